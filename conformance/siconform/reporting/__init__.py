"""What is kept of a run once it is over: records of schedulers, and the pages made of them."""

"""Output after a run: stored records of schedulers, certificates, and pages made from them."""

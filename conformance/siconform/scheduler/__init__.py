"""The simulated scheduler of the kit, with which it tests resource managers."""

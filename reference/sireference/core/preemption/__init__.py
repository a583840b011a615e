"""Preemption: an ask entitled to more gets resources that other allocations must release."""

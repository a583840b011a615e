"""Requests and notifications between an RM and a scheduler, independent of the revision."""

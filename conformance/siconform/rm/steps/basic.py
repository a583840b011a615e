"""The common base of steps: nodes, applications, asks, confirmations and timers."""

from siconform.rm.steps.allocations import AllocationSteps
from siconform.rm.steps.applications import ApplicationSteps
from siconform.rm.steps.confirmations import ConfirmationSteps
from siconform.rm.steps.nodes import NodeSteps
from siconform.rm.steps.timers import TimerSteps


class BasicSteps(ApplicationSteps, NodeSteps, AllocationSteps, TimerSteps, ConfirmationSteps):
    """One base for all of them, so that subclasses cannot list them in different orders."""

"""Descriptions of recent events."""

from sireference.core.model import (
    AcceptedApplication,
    AcceptedNode,
    NewAllocation,
    RecommendedNode,
    Refused,
    RejectedAllocation,
    RejectedApplication,
    RejectedAsk,
    RejectedNode,
    Release,
    ReleasedAllocation,
    ReleasedAsk,
    UpdatedApplication,
)
from sireference.core.model.effects import AllocationEffect, ApplicationEffect, NodeEffect
from sireference.shell.recent import News


def words(news: News) -> str:
    """Describe an event in one line."""
    match news:
        case str():
            return news
        case Refused():
            return f"refused: {news.reason}"
        case AcceptedNode() | RejectedNode() | RecommendedNode():
            return _of_node(news)
        case AcceptedApplication() | RejectedApplication() | UpdatedApplication():
            return _of_application(news)
        case _:
            return _of_allocation(news)


def _of_node(news: NodeEffect) -> str:
    match news:
        case AcceptedNode():
            return f"node {news.node_id} accepted"
        case RejectedNode():
            return f"node {news.node_id} rejected: {news.reason}"
        case RecommendedNode():
            return _with(f"node {news.node_id} should offer less", news.message)


def _of_application(news: ApplicationEffect) -> str:
    named = f"application {news.application_id}"
    match news:
        case AcceptedApplication():
            return f"{named} accepted"
        case RejectedApplication():
            return f"{named} rejected: {news.reason}"
        case UpdatedApplication():
            return _with(f"{named} is {news.state.value}", news.message)


def _of_allocation(news: AllocationEffect) -> str:
    match news:
        case NewAllocation():
            return _allocated(news)
        case ReleasedAllocation():
            return _released(news.release)
        case ReleasedAsk():
            ask = news.release
            of = f"ask {ask.key} of {ask.application_id}"
            return _with(f"{of} released, {ask.termination.value}", ask.message)
        case RejectedAsk():
            return f"ask {news.key} of {news.application_id} rejected: {news.reason}"
        case RejectedAllocation():
            return f"allocation {news.key} of {news.application_id} rejected: {news.reason}"


def _allocated(news: NewAllocation) -> str:
    ask = news.allocation.ask
    kind = "placeholder" if ask.placeholder else "allocation"
    return f"{kind} {ask.key} of {ask.application_id} on {news.allocation.node_id}"


def _released(release: Release) -> str:
    named = release.key or release.identity
    of = f"allocation {named} of {release.application_id}"
    return _with(f"{of} released, {release.termination.value}", release.message)


def _with(problem: str, message: str) -> str:
    return f"{problem}: {message}" if message else problem

"""The page with the state as people look at it: queues, nodes, applications, the last events."""

from sireference.shell.state_page.rendering import Page, renderer
from sireference.shell.state_page.view import Seen

__all__ = ["Page", "Seen", "renderer"]

"""State page for people: queues, nodes, applications and recent events."""

from sireference.shell.state_page.rendering import Page, renderer
from sireference.shell.state_page.view import Seen

__all__ = ["Page", "Seen", "renderer"]

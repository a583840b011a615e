"""The page of `sireference serve --http`: the state of the scheduler, while it changes."""

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from browser.chromium import SCHEMES, WIDTHS, Watched, overflow
from browser.served_state import HOSTILE, Reference, ResourceManager, fill, reference
from playwright.sync_api import Locator, Page, expect

SOON = 15_000.0  # milliseconds: the page is fetched again every two seconds


@pytest.fixture
def served() -> Iterator[Reference]:
    with reference() as started:
        yield started


@pytest.fixture
def rm(served: Reference) -> Iterator[ResourceManager]:
    with served.resource_manager() as registered:
        yield registered


def application(page: Page, name: str) -> Locator:
    """Return the line of an application."""
    return page.locator(".applications > .list > li").filter(has_text=name)


def test_the_state_is_there_for_everybody(
    page: Page, axe: Callable[[Page], None], rm: ResourceManager
) -> None:
    fill(rm)
    for width, scheme in product(WIDTHS, SCHEMES):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})

        page.goto(rm.page)
        for line in page.locator("summary").all():
            if line.locator("xpath=..").get_attribute("open") is None:
                line.click()

        assert overflow(page) == 0, width
        axe(page)
    assert page.title() == "State of the scheduler"
    expect(page.get_by_role("heading", name="rm-1")).to_contain_text("Running")
    research = page.locator(".queue").filter(has_text="research").first
    expect(research).to_contain_text("56 of 80")
    expect(research).to_contain_text("guaranteed 40")
    expect(page.locator(".card").filter(has_text="node-1")).to_contain_text("10 of 64")
    expect(application(page, "spark-gang")).to_contain_text("+ 16 in placeholders")
    expect(application(page, "spark-gang")).to_contain_text("2 placeholders")
    expect(application(page, "shop")).to_contain_text("1 ask waits")
    expect(page.locator(".events")).to_contain_text("application misplaced rejected")


def test_an_empty_scheduler_states_so(
    page: Page, axe: Callable[[Page], None], served: Reference
) -> None:
    page.goto(served.page)

    expect(page.get_by_text("No resource manager has registered yet.")).to_be_visible()
    axe(page)


def test_a_name_is_text_whatever_it_looks_like(
    page: Page, served: Reference, rm: ResourceManager
) -> None:
    rm.application(HOSTILE, "root.web")

    page.goto(served.page)

    expect(application(page, HOSTILE)).to_be_visible()
    assert page.title() == "State of the scheduler"
    assert page.locator("main img, main script").count() == 0


def test_what_happens_comes_by_itself_and_leaves_the_reader_alone(
    page: Page, served: Reference, rm: ResourceManager
) -> None:
    fill(rm)
    page.set_viewport_size({"width": 800, "height": 500})
    page.goto(served.page)
    line = application(page, "analysis").locator("summary")
    line.focus()
    page.keyboard.press("Enter")
    page.locator(".tree summary").filter(has_text="research").last.click()
    line.focus()
    page.evaluate("document.activeElement.isTheSame = true")
    scrolled = page.evaluate("scrollY")
    assert scrolled > 0

    rm.application("another", "root.web")
    rm.is_given("analysis", "analysis-new", memory=1)

    expect(application(page, "another")).to_be_visible(timeout=SOON)
    expect(application(page, "analysis")).to_contain_text("analysis-new")
    expect(page.locator(".events li").first).to_contain_text("analysis-new")
    assert page.evaluate("document.activeElement.isTheSame") is True
    assert page.evaluate("scrollY") == scrolled
    assert application(page, "analysis").locator("details").get_attribute("open") is not None
    expect(page.locator(".queue").filter(has_text="training").last).to_be_hidden()

    rm.application("one-more", "root.web")

    expect(application(page, "one-more")).to_be_visible(timeout=SOON)


def test_what_is_over_goes_away(page: Page, served: Reference) -> None:
    with served.resource_manager("passing") as passing:
        passing.application("one")
        page.goto(served.page)
        expect(page.get_by_role("heading", name="passing")).to_contain_text("Running")

    expect(page.get_by_role("heading", name="passing")).to_contain_text("Stopped", timeout=SOON)
    expect(page.locator(".events li").first).to_contain_text("shut down")


def test_it_can_be_paused_by_keyboard(page: Page, served: Reference, rm: ResourceManager) -> None:
    page.goto(served.page)
    pause = page.get_by_role("button", name="Pause")
    pause.focus()
    page.keyboard.press("Space")
    expect(pause).to_have_attribute("aria-pressed", "true")
    with page.expect_request(served.page + "/", timeout=SOON) as asked:
        rm.application("later")
        page.keyboard.press("Space")

    assert asked.value.method == "GET"
    expect(application(page, "later")).to_be_visible(timeout=SOON)


def test_a_keyboard_comes_to_the_state_in_one_step(page: Page, served: Reference) -> None:
    page.goto(served.page)

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the state")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("main")).to_be_focused()


def test_only_what_is_looked_for_is_shown_and_stays_in_the_address(
    page: Page, served: Reference, rm: ResourceManager
) -> None:
    fill(rm)
    page.goto(served.page)
    page.get_by_label("Show only").fill("gang")
    page.keyboard.press("Enter")

    expect(page).to_have_url(f"{served.page}/?only=gang")
    expect(page.locator(".applications .list > li")).to_have_count(1)
    expect(page.get_by_text("no node with “gang”")).to_be_visible()
    rm.application("gang-2")
    expect(page.locator(".applications .list > li")).to_have_count(2, timeout=SOON)


def test_a_scheduler_that_is_gone_is_reported(seen: Watched, served: Reference) -> None:
    seen.page.goto(served.page)

    served.process.kill()

    expect(seen.page.get_by_role("status")).to_contain_text(
        "The scheduler does not answer.", timeout=SOON
    )
    assert all("ERR_CONNECTION_REFUSED" in received for received in seen.complaints)
    seen.complaints.clear()

"""The report of a run and the page of several, in a real browser."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from browser.chromium import SCHEMES, WIDTHS, Watched, overflow
from documentation.generated import FAULTY, FOLDER, SIDE_BY_SIDE
from playwright.sync_api import Browser, Page, expect
from selftest import report_samples as samples
from siconform.reporting.html.report import page_of

Axe = Callable[[Page], None]
SHOWN = "[data-verdict]:visible"
FAILURE = "SI-GANG-021/test_021_is_kept"
AGAIN = "siconform run SI-GANG-021 --target x"
PAPER = 640
"""CSS pixels: the text on A4 and Letter is wider."""
RIGHT_OF = """(all, width) => all
    .filter(one => one.checkVisibility() && one.getBoundingClientRect().right > width)
    .map(one => one.textContent)"""
"""Return the texts of elements that reach beyond a width."""


@pytest.fixture
def report(tmp_path: Path) -> str:
    """The address of a report."""
    file = tmp_path / "report.html"
    file.write_text(page_of(samples.write(tmp_path / "run")), "utf-8")
    return file.as_uri()


@pytest.fixture(params=[FAULTY, SIDE_BY_SIDE])
def published(request: pytest.FixtureRequest) -> str:
    """The address of each HTML page that `nox -s docs` made."""
    file = FOLDER / str(request.param)
    if not file.is_file():
        pytest.fail(f"there is no {file}: nox -s docs makes it")
    return file.as_uri()


def ids(page: Page) -> list[str]:
    found: list[str] = page.eval_on_selector_all(SHOWN, "all => all.map(one => one.id)")
    return found


def test_it_asks_for_nothing_but_itself(seen: Watched, report: str) -> None:
    seen.page.goto(report)

    assert [url for url in seen.requests if not url.startswith("data:")] == [report]


def test_what_the_target_states_runs_no_script(page: Page, report: str) -> None:
    sent: list[str] = []
    page.on("dialog", lambda dialog: sent.append(dialog.message))

    page.goto(report)
    page.locator("details.exchange > summary").click()

    assert not sent
    expect(page.locator("h1")).to_contain_text("<script>alert('x')</script>")


def test_filters_narrow_the_list_and_stay_in_the_address(page: Page, report: str) -> None:
    page.goto(report)
    page.locator("[name=area]").select_option("GANG")
    page.locator("[name=level]").select_option("SHOULD")

    assert ids(page) == ["SI-GANG-022"]
    expect(page.get_by_role("status")).to_have_text("1 of 5 requirements are shown")
    assert page.url == f"{report}#level=SHOULD&area=GANG"


def test_an_address_with_filters_opens_filtered(page: Page, report: str) -> None:
    page.goto(f"{report}#verdict=pass&text=interpretation")

    expect(page.get_by_role("status")).to_contain_text("of 5 requirements are shown")
    assert set(ids(page)) <= {"SI-NODE-001", "SI-GANG-022"}
    assert page.locator("[name=verdict]").input_value() == "pass"
    assert page.locator("[name=text]").input_value() == "interpretation"


def test_everything_is_shown_again_on_demand(page: Page, report: str) -> None:
    page.goto(f"{report}#verdict=excluded")
    page.get_by_role("button", name="show all").click()

    expect(page.get_by_role("status")).to_have_text("5 requirements")
    assert page.url == report


def test_a_cell_leads_to_its_requirements(page: Page, report: str) -> None:
    page.goto(report)
    page.locator('a.cell[href="#area=GANG&level=MUST"]').click()

    expect(page.get_by_role("status")).to_have_text("1 of 5 requirements are shown")
    assert ids(page) == ["SI-GANG-021"]


def test_an_id_in_the_address_opens_its_requirement(page: Page, report: str) -> None:
    page.goto(f"{report}#SI-GANG-022")

    expect(page.locator("#SI-GANG-022 > summary")).to_be_focused()
    assert page.locator("#SI-GANG-022").get_attribute("open") == ""


def test_a_link_to_a_failure_opens_it_without_script(browser: Browser, report: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{report}#{FAILURE}")

    expect(page.get_by_text("expected", exact=True).first).to_be_in_viewport()
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.get_by_role("button")).to_have_count(0)
    page.close()


def test_a_link_to_a_failure_scrolls_to_it(page: Page, report: str) -> None:
    page.goto(f"{report}#verdict=pass")
    page.locator(".failing a").click()

    expect(page.locator(".failure")).to_be_in_viewport()
    expect(page.locator(".failure h3 a")).to_be_focused()
    assert page.locator("[name=verdict]").input_value() == ""


@pytest.mark.parametrize("name", ["copy link", "copy"])
def test_links_and_commands_are_copied_by_keyboard(page: Page, report: str, name: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(report)
    page.locator(".failure").get_by_role("button", name=name, exact=True).first.press("Enter")

    expect(page.get_by_role("button", name="copied")).to_be_focused()
    expected = f"{report}#{FAILURE}" if name == "copy link" else AGAIN
    assert page.evaluate("navigator.clipboard.readText()") == expected


def test_a_command_is_selected_without_a_clipboard(page: Page, report: str) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.goto(report)
    page.locator(".failure").get_by_role("button", name="copy", exact=True).first.click()

    expect(page.get_by_role("button", name="selected, press Ctrl+C")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == AGAIN


def test_a_link_is_in_the_address_without_a_clipboard(page: Page, report: str) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.goto(report)
    page.locator(".failure").get_by_role("button", name="copy link").click()

    expect(page.get_by_role("button", name="now in the address bar")).to_be_visible()
    assert page.url == f"{report}#{FAILURE}"


def test_search_by_keyboard_leads_to_the_first_match(page: Page, report: str) -> None:
    page.goto(f"{report}#level=MUST")
    page.keyboard.press("/")
    page.keyboard.type("allocated gang")

    assert ids(page) == ["SI-GANG-021"]
    assert page.url == f"{report}#level=MUST&text=allocated+gang"
    page.keyboard.press("Enter")
    expect(page.locator("#SI-GANG-021 > summary")).to_be_focused()


def test_everything_opens_by_keyboard_alone(page: Page, report: str) -> None:
    page.goto(report)
    page.locator("#SI-GANG-021 > summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#SI-GANG-021 .body")).to_be_hidden()
    page.keyboard.press("Enter")

    exchange = page.locator("#SI-GANG-021 details.exchange")
    for _ in range(10):
        page.keyboard.press("Tab")
        if exchange.evaluate("one => one.contains(document.activeElement)"):
            break
    page.keyboard.press("Enter")

    expect(exchange.locator("svg .arrow")).to_have_count(8)
    expect(exchange.locator("svg .head")).to_have_text(
        ["RM", "applications", "allocations", "nodes"]
    )


def test_the_first_key_leads_past_the_head(page: Page, report: str) -> None:
    page.goto(report)
    page.keyboard.press("Tab")

    expect(page.get_by_role("link", name="Skip to the requirements")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#requirements")).to_be_focused()


def test_a_diagram_states_the_same_as_a_list(page: Page, report: str) -> None:
    page.goto(report)
    page.locator("details.exchange > summary").click()
    page.get_by_text("as a list").click()

    expect(page.locator(".exchange li").first).to_have_text(
        "0.000 s, RM sends (nodes): node node-1 create"
    )


def test_the_line_of_the_first_difference_is_marked(page: Page, report: str) -> None:
    page.goto(report)

    expect(page.locator("tr.differs")).to_have_text(
        re.compile("0.100! first differenceallocated on node-2allocated on node-1")
    )


def test_the_message_of_the_failure_is_marked_in_words(page: Page, report: str) -> None:
    page.goto(report)
    page.locator("details.exchange > summary").click()
    page.get_by_text("as a list").click()

    expect(page.locator("tr.wrong")).to_contain_text("unexpectedallocated ask-1")
    expect(page.locator("svg text.wrong")).to_have_text(["unexpected:", "allocated ask-1"])
    expect(page.locator("svg .arrow.wrong")).to_have_count(1)
    expect(page.locator(".exchange li", has_text="unexpected: ")).to_have_count(1)


def test_no_width_scrolls_sideways(page: Page, report: str) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(report)
        page.locator("details.exchange > summary").click()

        assert overflow(page) == 0, width


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_keeps_the_rules_of_accessibility(
    page: Page, axe: Axe, report: str, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(report)
    page.locator("details.exchange > summary").click()
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")

    axe(page)


def test_dark_is_dark(page: Page, report: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(report)

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 24)"


def test_on_paper_failures_are_open_and_controls_are_gone(page: Page, report: str) -> None:
    page.goto(report)
    page.locator("#SI-GANG-021 > summary").click()
    page.emulate_media(media="print")

    expect(page.locator("#SI-GANG-021 .body")).to_be_visible()
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator("button:visible, select:visible, input:visible")).to_have_count(0)


def test_paper_is_black_on_white_from_a_dark_screen(page: Page, report: str) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(report)

    colours = "[...document.querySelectorAll('body, body *')].map(getComputedStyle)"
    used = page.evaluate(
        f"[...new Set({colours}.flatMap(one => [one.color, one.backgroundColor]))].sort()"
    )
    assert used == ["rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"]


def test_no_table_is_cut_on_paper(page: Page, report: str) -> None:
    page.set_viewport_size({"width": PAPER, "height": 800})
    page.goto(report)
    page.locator("details.exchange > summary").click()
    page.emulate_media(media="print")

    assert page.eval_on_selector_all("thead th, pre, svg", RIGHT_OF, PAPER) == []


def test_a_phone_shows_this_target_and_hints_at_the_reference(page: Page, report: str) -> None:
    page.goto(report)
    expect(page.get_by_text("Scroll sideways to see the reference.")).to_be_hidden()
    page.set_viewport_size({"width": WIDTHS[0], "height": 800})

    expect(page.get_by_text("Scroll sideways to see the reference.")).to_be_visible()
    assert page.eval_on_selector_all("thead th", RIGHT_OF, WIDTHS[0]) == ["the reference"]


def test_a_phone_breaks_no_word_in_the_table_of_areas(page: Page, report: str) -> None:
    page.set_viewport_size({"width": WIDTHS[0], "height": 800})
    page.goto(report)
    height = "(one, word) => { one.textContent = word; return one.offsetHeight; }"
    short, long = (
        page.locator(".cell span").first.evaluate(height, word) for word in ("pass", "inconclusive")
    )

    assert long == short


def test_published_pages_fit_every_width(page: Page, published: str) -> None:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(published)

        assert overflow(page) == 0, width


@pytest.mark.parametrize("scheme", SCHEMES)
def test_published_pages_keep_the_rules_of_accessibility(
    page: Page, axe: Axe, published: str, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(published)

    axe(page)


def test_side_by_side_has_a_filter_for_what_differs(page: Page) -> None:
    page.goto((FOLDER / SIDE_BY_SIDE).as_uri())
    everything = len(ids(page))
    page.get_by_label("differs").check()

    assert 0 < len(ids(page)) < everything
    assert page.url.endswith("#differs=yes")


def test_side_by_side_opens_at_what_was_broken(page: Page) -> None:
    page.goto((FOLDER / SIDE_BY_SIDE).as_uri() + "#change=broken")

    expect(page.get_by_role("status")).to_contain_text("are shown")
    assert set(ids(page)) >= {"SI-ALLOC-008", "SI-REC-016"}
    expect(page.locator("#SI-ALLOC-008")).to_contain_text("regressed")

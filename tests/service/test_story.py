"""The whole story in a real browser: register, limit, invite, ask, approve, look, predict, and run out of budget."""

import re

import pytest

from support import page_checks
from support.browsing import Person, chromium, free_port
from support.running_service import running_service


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("service"), free_port()) as made:
        yield made


@pytest.fixture(scope="module")
def owner(browser, service):
    """An owner who came by the one-time link, registered a table, and confirmed every public fact."""
    ada = Person(browser, service.url)
    ada.accept(service.owner_link, "ada", "Ada Byron")
    ada.says("No request waits.")
    register(ada)
    return ada


@pytest.fixture(scope="module")
def analyst(browser, service, owner):
    """An analyst who was invited, and may spend 1.5 on the table; requests up to 1/4 are approved by rule."""
    owner.open("/people")
    owner.press("Make a one-time link")
    link = owner.page.locator("#link").inner_text()
    owner.shot("people")
    grace = Person(browser, service.url)
    grace.accept(link, "grace", "Grace Hopper")
    grace.says("You have no grant for this table")
    grant(owner)
    return grace


def register(ada):
    """Register the table, and confirm what is public, entry by entry."""
    ada.open("/tables/new")
    ada.fill(name="breast", title="Breast cancer", target="diagnosis", limit="5")
    ada.fill(new_population="clinic", population_limit="10")
    ada.shot("register")
    ada.press("Register and draft a schema")
    ada.says("Confirm what is public")
    ada.press("Confirm and write the snapshot")
    ada.says("confirm or change each entry read from the data")
    ada.page.get_by_label("Lower bound").first.fill("0")
    ada.fill(**{"value-records": "569"})
    for box in ada.page.get_by_role("checkbox", name="I know this from elsewhere").all():
        box.check()
    ada.shot("confirm")
    ada.press("Confirm and write the snapshot")
    ada.says("What analysts see")
    ada.shot("table")


def grant(ada):
    """A project with one member, who may ask of the table."""
    ada.open("/projects")
    ada.fill(name="oncology", title="Oncology")
    ada.press("Create")
    ada.page.get_by_label("Add").select_option(label="Grace Hopper")
    ada.press("Add to the project")
    ada.fill(limit="1.5", project_limit="4", rule="0.25")
    ada.press("Grant")
    ada.says("Requests up to ε 0.25 are approved by rule")
    ada.shot("project")


def asked(grace):
    """The address of the request that the page shows."""
    grace.says("Asked. This page shows what becomes of it.")
    return grace.page.url.split("?")[0]


def test_a_model_is_asked_for_approved_shown_and_used(owner, analyst):
    analyst.open("/catalogue")
    analyst.shot("catalogue")
    analyst.page.get_by_role("link", name="Ask of Breast cancer").click()
    analyst.page.get_by_role("radio", name="Naive Bayes").check()
    analyst.fill(epsilon="1")
    analyst.page.locator("#quote:not(.stale) .price", has_text="ε 1").wait_for()
    analyst.says("An owner decides.")
    analyst.shot("ask-model")
    analyst.press("Ask for it")
    address = asked(analyst)
    owner.open("/inbox")
    owner.says("Model: Naive Bayes")
    owner.page.get_by_label("Note to the analyst").fill("Welcome.")
    owner.shot("inbox")
    owner.press("Approve and reserve ε 1")
    owner.says("Approved.")
    analyst.open(address)
    analyst.page.get_by_role("link", name="See the answer").wait_for(timeout=120_000)
    analyst.shot("job")
    analyst.page.get_by_role("link", name="See the answer").click()
    analyst.says("What it promises")
    picture = analyst.page.locator("img.model")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
    analyst.page.get_by_label("mean_radius").fill("25")
    analyst.page.get_by_label("size").select_option("large")
    analyst.press("Predict")
    analyst.page.locator("#predict .notice.good", has_text="malignant").wait_for()
    analyst.shot("release-model")
    assert analyst.complaints == []
    assert owner.complaints == []


def test_counts_within_the_rule_need_no_person(analyst):
    analyst.open("/ask/breast/count")
    analyst.page.locator("summary", has_text="diagnosis").click()
    analyst.page.get_by_role("checkbox", name="Group by diagnosis").check()
    analyst.page.locator("summary", has_text="mean_radius").click()
    analyst.page.locator("input[placeholder='0']").first.fill("12")
    analyst.fill(epsilon="0.25")
    analyst.page.locator("#quote:not(.stale)", has_text="Approved at once").wait_for()
    analyst.shot("ask-count")
    analyst.press("Ask for it")
    asked(analyst)
    analyst.page.get_by_role("link", name="See the answer").wait_for(timeout=120_000)
    analyst.page.get_by_role("link", name="See the answer").click()
    analyst.page.locator("svg.chart").wait_for()
    analyst.shot("release-count")
    title = analyst.page.locator("svg.chart title").text_content()
    assert title == "Records by diagnosis"
    assert analyst.page.get_by_role("row").count() == 3
    assert analyst.complaints == []


def test_the_budget_runs_out_and_the_refusal_says_why(analyst):
    analyst.open("/ask/breast/count")
    analyst.fill(epsilon="1")
    analyst.says("The budget does not allow this now")
    analyst.says("too little: ε 0.25 left")
    analyst.open("/ask/breast/count")
    analyst.fill(epsilon="0.25")
    analyst.press("Ask for it")
    asked(analyst)
    analyst.open("/ask/breast/count")
    analyst.fill(epsilon="0.25")
    analyst.press("Ask for it")
    analyst.says("grace/breast")
    analyst.shot("refused")
    analyst.open("/budget")
    analyst.says("ε 0 left of 1.5")
    analyst.shot("budget")


def test_what_was_spent_can_be_verified(owner, service):
    owner.open("/ledger")
    owner.press("Verify the chain")
    owner.page.locator("#verified .notice.good").first.wait_for()
    owner.shot("ledger")
    owner.open("/log")
    owner.says("job.approved")
    owner.shot("log")
    owner.open("/limits")
    owner.shot("limits")


def test_an_owner_refuses_and_says_why(owner, analyst):
    owner.open("/projects/oncology")
    owner.page.locator("summary", has_text="Change").click()
    owner.page.get_by_label("Limit ε").first.fill("3")
    owner.press("Save")
    owner.says("Changed.")
    analyst.open("/ask/breast/train")
    analyst.fill(epsilon="0.5")
    analyst.press("Ask for it")
    address = asked(analyst)
    owner.open("/inbox")
    owner.page.get_by_label("Note to the analyst").first.fill("Counts are enough for this question.")
    owner.press("Refuse")
    owner.says("Refused.")
    analyst.open(address)
    analyst.says("Counts are enough for this question.")
    analyst.shot("job-refused")


def test_without_scripts_on_a_phone(browser, service, analyst):
    phone = Person(browser, service.url, width=390, scripts=False, scheme="dark")
    phone.enter("grace")
    phone.open("/ask/breast/count")
    phone.page.locator("summary", has_text="size").click()
    phone.page.get_by_role("checkbox", name="Group by size").check()
    phone.fill(epsilon="0.1")
    phone.press("Show the price")
    phone.says("Approved at once")
    phone.shot("phone-ask")
    phone.press("Ask for it")
    asked(phone)
    for _ in range(120):
        phone.page.wait_for_timeout(1000)
        phone.page.get_by_role("link", name="Requests").click()
        phone.page.get_by_role("row").nth(1).get_by_role("link").click()
        if phone.page.get_by_role("link", name="See the answer").count():
            break
    phone.page.get_by_role("link", name="See the answer").click()
    phone.says("Records by size")
    phone.shot("phone-release")


def test_by_keyboard_alone(browser, service, analyst):
    keys = Person(browser, service.url)
    keys.open("/enter")
    keyboard = keys.page.keyboard
    keyboard.press("Tab")
    assert keys.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    keyboard.press("Enter")
    keyboard.press("Tab")
    keyboard.type("grace")
    keyboard.press("Tab")
    keyboard.type("several words are a good one")
    keyboard.press("Enter")
    keys.says("Breast cancer")
    reach(keys, "Ask of Breast cancer")
    keyboard.press("Enter")
    keys.says("Privacy loss ε")
    reach(keys, "", "epsilon")
    keyboard.press("Control+A")
    keyboard.type("0.1")
    reach(keys, "Ask for it")
    assert outline(keys) != "none"
    keys.shot("keyboard")
    keyboard.press("Enter")
    asked(keys)


def reach(keys, text, element=""):
    """Press Tab until the element of this text or id has the focus."""
    for _ in range(80):
        keys.page.keyboard.press("Tab")
        now = keys.page.evaluate("[document.activeElement.textContent.trim(), document.activeElement.id]")
        if (text and now[0] == text) or (element and now[1] == element):
            return
    raise AssertionError(f"{text or element} cannot be reached by Tab")


def outline(keys):
    """How the focus is shown."""
    return keys.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")


PATHS = {
    "ada": "/inbox /tables /tables/new /tables/breast /people /projects /projects/oncology /limits /jobs /releases "
    "/ledger /log /account /catalogue /catalogue/breast",
    "grace": "/catalogue /catalogue/breast /ask/breast/train /ask/breast/count /ask/breast/score /jobs /releases "
    "/budget /account",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["ada", "grace"])
def test_every_page_fits_a_phone_and_is_labelled(browser, service, owner, analyst, name, scheme):
    visitor = Person(browser, service.url, width=390, scheme=scheme)
    visitor.enter(name)
    for path in PATHS[name].split():
        answer = visitor.open(path)
        assert answer.status == 200, path
        assert visitor.page.evaluate(page_checks.WIDTH) <= 390, path
        assert visitor.page.evaluate(page_checks.UNLABELLED) == [], path
        assert visitor.page.evaluate(page_checks.TWICE) == [], path
        assert visitor.page.evaluate(page_checks.PALE) == [], path
        assert visitor.page.locator("h1").count() == 1, path
        assert re.search(r"\S", visitor.page.title()), path
        visitor.shot(f"{name}-{scheme}{path.replace('/', '-')}")
    assert visitor.complaints == []

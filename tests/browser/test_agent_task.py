from playwright.sync_api import Browser, expect

from tests.browser.process import running_demo
from tests.browser.steps import opened_window

HIT = "params = TileParams(temperature=0.0, max_tokens=64, truncate_prompt_tokens=2048)"


def test_the_button_below_a_hit_opens_the_task_as_a_text_to_copy(browser: Browser) -> None:
    with running_demo("--profile") as demo, browser.new_context() as context:
        page = context.new_page()
        page.goto(demo.address)
        page.locator("#messages .replies").first.click()
        page.locator("#thread").get_by_role("button", name="Task for an agent").first.click()
        window = opened_window(page)
        # the window opens at once, and is filled when the task is built
        task = window.locator("pre")
        expect(task).to_contain_text("# Task: adapt satellite to vllm-project/vllm#35441")
        expect(task).to_contain_text(HIT)
        expect(window).to_contain_text("is sent nowhere")

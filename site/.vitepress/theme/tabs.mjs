// Remembers the tab a reader chose, such as curl, and shows it in every group that has it, on all pages.
const STORED = "mailsvc-docs-tab";

/** Follows the reader's choice of tabs for as long as the site is open. `router` is VitePress's. */
export function keepTabs(router) {
  document.addEventListener("change", ({ target }) => {
    if (!target.matches?.(".vp-code-group input")) return;
    const title = titleOf(target);
    localStorage.setItem(STORED, title);
    // The chosen group stays where it is on the screen while others above it change their height.
    const before = target.getBoundingClientRect().top;
    show(title);
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: "instant" });
  });
  const restore = () => requestAnimationFrame(() => show(localStorage.getItem(STORED)));
  const after = router.onAfterRouteChange;
  router.onAfterRouteChange = (to) => {
    restore();
    return after?.(to);
  };
  addEventListener("load", restore);
}

const titleOf = (input) => input.nextElementSibling?.dataset.title;

/** Selects the tab of this title wherever there is one. */
function show(title) {
  for (const input of document.querySelectorAll(".vp-code-group input")) {
    if (titleOf(input) !== title) continue;
    input.checked = true;
    const group = input.closest(".vp-code-group");
    const position = [...group.querySelectorAll("input")].indexOf(input);
    for (const [i, block] of [...group.querySelector(".blocks").children].entries()) block.classList.toggle("active", i === position);
  }
}

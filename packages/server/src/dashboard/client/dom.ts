/** Helpers of all parts: elements, notices, calls and confirmations. Content is inserted as text, never as markup. */
export function dom() {
  const NOTICE_MS = 4000;
  const MAX_SHOWN = 500_000;
  let noticeTimer = 0;

  const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
  const element = (tag: string, name: string, ...inside: (Node | string)[]): HTMLElement => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    node.append(...inside);
    return node;
  };
  const button = (name: string, press: () => void, ...inside: (Node | string)[]): HTMLElement => {
    const node = element("button", name, ...inside);
    node.setAttribute("type", "button");
    node.addEventListener("click", press);
    return node;
  };
  const link = (text: string, href: string, name?: string): HTMLElement => {
    const a = element("a", "", text) as HTMLAnchorElement;
    a.href = href;
    if (name !== undefined) a.download = name;
    return a;
  };
  const fact = (name: string, value: string): HTMLElement[] => (value === "" ? [] : [element("dt", "", name), element("dd", "", value)]);
  /** A text as it is; of a very long one the beginning. */
  const lines = (text: string): HTMLElement[] => {
    const box = element("pre", "", text.slice(0, MAX_SHOWN));
    return text.length > MAX_SHOWN ? [element("p", "bar", "Only the beginning is shown. Save the mail to see all of it."), box] : [box];
  };
  const table = (head: readonly string[], rows: readonly (readonly (Node | string)[])[]): HTMLElement =>
    element(
      "table",
      "",
      ...(head.length > 0 ? [element("thead", "", element("tr", "", ...head.map((text) => element("th", "", text))))] : []),
      element("tbody", "", ...rows.map((cells) => element("tr", "", ...cells.map((cell, i) => element(i === 0 ? "th" : "td", "", cell))))),
    );

  const sleep = (ms: number): Promise<void> => new Promise((done) => window.setTimeout(done, ms));
  const notice = (text: string, bad = false): void => {
    const line = byId("notice");
    line.textContent = text;
    line.className = bad ? "bad" : "";
    window.clearTimeout(noticeTimer);
    noticeTimer = window.setTimeout(() => line.replaceChildren(), NOTICE_MS);
  };
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const answer = (await response.json()) as T & { error?: { message: string } };
    if (!response.ok) throw new Error(answer.error?.message ?? `The server answered ${response.status}.`);
    return answer;
  };
  const handle = (work: () => Promise<void>) => (): void => {
    work().catch((error: Error) => notice(error.message, true));
  };
  const confirmFirst = (question: string, yes: string, work: () => Promise<void>) => (): void => {
    const dialog = byId<HTMLDialogElement>("ask");
    byId("question").textContent = question;
    byId("yes").textContent = yes;
    byId("yes").onclick = () => {
      dialog.close();
      handle(work)();
    };
    dialog.showModal();
    byId("no").focus();
  };
  return { byId, element, button, link, fact, lines, table, sleep, notice, call, handle, confirmFirst };
}
export type Dom = ReturnType<typeof dom>;

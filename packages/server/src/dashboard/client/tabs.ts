import type { Dom } from "./dom.ts";

/** The tabs of what is open: the buttons inside the element `within`, and the panel of the chosen one. */
export function tabs({ byId }: Dom, within: string, panelId: string, first: string) {
  let chosen = first;
  const buttons = () => document.querySelectorAll<HTMLButtonElement>(`#${within} [data-tab]`);
  return {
    chosen: () => chosen,
    choose: (name: string): void => {
      chosen = name;
    },
    /** Marks the chosen tab, disables those that have nothing to show, and gives the panel. */
    mark: (there: Readonly<Record<string, boolean>>, titles: Readonly<Record<string, string>>): HTMLElement => {
      for (const button of buttons()) {
        const name = button.dataset["tab"] ?? "";
        button.setAttribute("aria-selected", String(name === chosen));
        button.disabled = there[name] === false;
        if (titles[name] !== undefined) button.textContent = titles[name];
      }
      const panel = byId(panelId);
      panel.className = `panel ${chosen}`;
      panel.setAttribute("aria-labelledby", `tab-${chosen}`);
      return panel;
    },
    /** Lets the buttons choose; `draw` shows the new choice. */
    start: (draw: () => void): void => {
      for (const button of buttons())
        button.onclick = () => {
          chosen = button.dataset["tab"] ?? first;
          draw();
        };
    },
  };
}
export type Tabs = typeof tabs;

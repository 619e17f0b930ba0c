import type { ClockState } from "@mailsvc/sdk/contract";
import type { Dom } from "./dom.ts";
import type { Format } from "./format.ts";

/** Reactions of the rest of the page to changes of the clock. */
export interface ClockChanges {
  /** Time was moved forward: shown ages may be outdated. */
  moved(): void;
  /** Time went back: a snapshot was restored or everything was reset. */
  jumped(): void;
}

/** The server's clock: shown every second, frozen, moved. */
export function clock({ byId, call, handle, notice, sleep }: Dom, format: Format, changes: ClockChanges) {
  const TICK_MS = 1000;
  let frozen = false;

  const draw = ({ now, mode, next }: ClockState): void => {
    const before = format.now();
    const after = Date.parse(now);
    format.set(after);
    frozen = mode === "frozen";
    byId("mode").textContent = frozen ? "Frozen" : "Running";
    byId("mode").className = `mode ${mode}`;
    byId("now").textContent = format.clockTime(after);
    byId("freeze").textContent = frozen ? "Thaw" : "Freeze";
    byId<HTMLButtonElement>("next").disabled = next === null;
    byId("upcoming").textContent = next ? `Next: ${next.name} in ${format.span(Date.parse(next.at) - after)}` : "No timer waits";
    if (after < before) changes.jumped();
  };
  const turn = async (path: string, body?: object): Promise<void> => {
    const before = format.now();
    const state = await call<ClockState>("POST", `/__dev/clock/${path}`, body ?? {});
    draw(state);
    changes.moved();
    if (path === "freeze" || path === "thaw") return;
    const names = new Map<string, number>();
    for (const { name } of state.fired) names.set(name, (names.get(name) ?? 0) + 1);
    const fired = [...names].map(([name, n]) => (n > 1 ? `${name} × ${n}` : name)).join(", ");
    notice(`${format.span(Date.parse(state.now) - before)} passed${fired ? `: ${fired}` : ", nothing was due"}`);
  };
  const tick = async (): Promise<void> => {
    for (;;) {
      if (!document.hidden) await call<ClockState>("GET", "/__dev/clock").then(draw, () => {});
      await sleep(TICK_MS);
    }
  };
  return {
    start: (): void => {
      byId("freeze").onclick = handle(() => turn(frozen ? "thaw" : "freeze"));
      byId("advance").onclick = handle(() => turn("advance", { by: "15m" }));
      byId("next").onclick = handle(() => turn("next"));
      void tick();
    },
  };
}

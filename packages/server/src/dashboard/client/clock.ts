import type { ClockState } from "@mailsvc/sdk/contract";
import type { Times } from "./times.ts";
import type { Tools } from "./tools.ts";

/** What the clock tells the rest of the page. */
export interface ClockChanges {
  /** Time passed by hand: what is shown may be old by now. */
  moved(): void;
  /** Time went back: the whole world was put somewhere else. */
  jumped(): void;
}

/** The server's clock: shown every second, frozen, moved. */
export function clock({ at, call, doing, notice, sleep }: Tools, times: Times, changes: ClockChanges) {
  const TICK_MS = 1000;
  let frozen = false;

  const draw = ({ now, mode, next }: ClockState): void => {
    const before = times.now();
    const after = Date.parse(now);
    times.set(after);
    frozen = mode === "frozen";
    at("mode").textContent = frozen ? "Frozen" : "Running";
    at("mode").className = `mode ${mode}`;
    at("now").textContent = times.clockTime(after);
    at("freeze").textContent = frozen ? "Thaw" : "Freeze";
    at<HTMLButtonElement>("next").disabled = next === null;
    at("upcoming").textContent = next ? `Next: ${next.name} in ${times.span(Date.parse(next.at) - after)}` : "No timer waits";
    if (after < before) changes.jumped();
  };
  const turn = async (path: string, body?: object): Promise<void> => {
    const before = times.now();
    const state = await call<ClockState>("POST", `/__dev/clock/${path}`, body ?? {});
    draw(state);
    changes.moved();
    if (path === "freeze" || path === "thaw") return;
    const names = new Map<string, number>();
    for (const { name } of state.fired) names.set(name, (names.get(name) ?? 0) + 1);
    const fired = [...names].map(([name, n]) => (n > 1 ? `${name} × ${n}` : name)).join(", ");
    notice(`${times.span(Date.parse(state.now) - before)} passed${fired ? `: ${fired}` : ", nothing was due"}`);
  };
  const tick = async (): Promise<void> => {
    for (;;) {
      if (!document.hidden) await call<ClockState>("GET", "/__dev/clock").then(draw, () => {});
      await sleep(TICK_MS);
    }
  };
  return {
    start: (): void => {
      at("freeze").onclick = doing(() => turn(frozen ? "thaw" : "freeze"));
      at("advance").onclick = doing(() => turn("advance", { by: "15m" }));
      at("next").onclick = doing(() => turn("next"));
      void tick();
    },
  };
}

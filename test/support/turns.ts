import { test } from "vitest";

const IS_ALL = process.env["TURNS"] === "all";

/**
 * Selects the things of one turn, of those that are tried alike: every `of`th, beginning with the one at `turn`. TURNS=all selects all of
 * them each time, as `npm run proof -- turns` does.
 */
export function inTurn<T>(things: readonly T[], turn: number, of = 2): readonly T[] {
  return IS_ALL ? things : things.filter((_, i) => i % of === turn % of);
}

/** Tests that are shared out between two turns, such as the databases on which they run: each is registered on one of them. */
export class Turns {
  #place: number;

  constructor(turn: number) {
    this.#place = turn;
  }

  /** The rows of `test.each` that are this turn's. */
  rows<Row>(rows: readonly Row[]): readonly Row[] {
    return rows.filter(() => this.#isMine());
  }

  test(name: string, run: () => Promise<void>): void {
    if (this.#isMine()) test(name, run);
  }

  #isMine(): boolean {
    this.#place += 1;
    return IS_ALL || this.#place % 2 === 0;
  }
}

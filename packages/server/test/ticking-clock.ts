import { ControllableClock } from "../src/lib/controllable-clock.ts";

/** A clock that moves on 1 ms at each reading, as time passes in production; a frozen one hides code that asks twice for one decision. */
export class TickingClock extends ControllableClock {
  protected override read(): number {
    this.freeze(super.read() + 1);
    return super.read();
  }
}

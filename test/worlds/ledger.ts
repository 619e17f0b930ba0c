import type { Tenant } from "./script.ts";

/** A mail that a mail server was given. */
export interface HandOver {
  readonly order: number;
  readonly workspaceId: string;
  readonly emailId: string | null;
  readonly to: string;
  readonly messageId: string;
  /** False if the connection broke or the mail server refused, so that nobody has the mail for certain. */
  readonly taken: boolean;
}

/** A no that the service has acknowledged: from then on no mail of this scope goes to the address. */
export interface Refusal {
  readonly order: number;
  readonly tenant: Tenant;
  readonly address: string;
  readonly scope: "marketing" | "all";
}

/** A key, and when it was to work. */
interface KeyRecord {
  readonly tenant: Tenant;
  readonly key: string;
  /** The call by which it is tried. */
  readonly path: string;
  works: boolean;
}

/** A request that a webhook was sent. */
interface HookCall {
  readonly name: string;
  readonly status: number;
  readonly body: string;
}

/**
 * What was seen from outside, in the order in which it happened. Invariants compare it with what the service says; nothing in it comes from
 * the database.
 */
export class Ledger {
  #order = 0;
  readonly handOvers: HandOver[] = [];
  readonly refusals: Refusal[] = [];
  readonly keys: KeyRecord[] = [];
  readonly calls: HookCall[] = [];
  /** Answers that should not have been: errors of the server, words of another workspace. */
  readonly faults: string[] = [];

  /** Counts up with everything that happens. */
  next(): number {
    this.#order += 1;
    return this.#order;
  }

  handOver(one: Omit<HandOver, "order">): void {
    this.handOvers.push({ ...one, order: this.next() });
  }

  refuse(one: Omit<Refusal, "order">): void {
    this.refusals.push({ ...one, address: one.address.toLowerCase(), order: this.next() });
  }

  /** Takes back a no, because the person has said yes since. */
  allow(tenant: Tenant, address: string): void {
    const kept = this.refusals.filter((one) => one.tenant !== tenant || one.address !== address.toLowerCase());
    this.refusals.splice(0, this.refusals.length, ...kept);
  }
}

import type { ActivationStatus, DeactivationReason, ListingState, PauseReason } from "@mailsvc/sdk/contract";
import { addMonth, findMonthAround } from "../src/lib/month.ts";

/** A model of listings and activations: their states (docs/marketplace.md) in memory, without a database, jobs or a clock. */

const DAY = 24 * 3_600_000;
const COVERS: Readonly<Record<string, number>> = { none: 0, free: 1, starter: 3, scale: Number.POSITIVE_INFINITY };

interface ModelListing {
  state: ListingState;
  /** Start of the current period. */
  listedAt: number;
  expiresAt: number;
}

export interface ModelActivation {
  id: string;
  listing: string;
  status: ActivationStatus;
  reasons: PauseReason[];
  ended: DeactivationReason | null;
  uncoveredAt: number | null;
  /** Expected events, in order. */
  events: string[];
}

export class Model {
  now: number;
  plan = "scale";
  readonly listings = new Map<string, ModelListing>();
  /** Oldest first. */
  readonly activations: ModelActivation[] = [];

  constructor(now: number) {
    this.now = now;
  }

  listed(slug: string): boolean {
    return this.listings.get(slug)?.state === "LISTED";
  }

  pay(slug: string): void {
    const listing = this.listings.get(slug) as ModelListing;
    if (listing.state === "LISTED") listing.expiresAt = findMonthAround(listing.listedAt, listing.expiresAt).until;
    else this.listings.set(slug, { state: "LISTED", listedAt: this.now, expiresAt: addMonth(this.now) });
  }

  end(slug: string, state: "CANCELLED" | "EXPIRED"): void {
    const listing = this.listings.get(slug) as ModelListing;
    listing.state = state;
    for (const activation of this.living()) if (activation.listing === slug) this.deactivate(activation, "admin_revoke");
    this.cover();
  }

  living(): ModelActivation[] {
    return this.activations.filter((a) => a.status !== "deactivated");
  }

  /** The error code of turning an agent on; null when it succeeds. */
  refusal(slug: string): string | null {
    if (!this.listed(slug)) return "not_found";
    if (this.living().some((a) => a.listing === slug)) return "already_active";
    return this.living().length >= (COVERS[this.plan] as number) ? "plan_limit_reached" : null;
  }

  activate(slug: string, id: string): void {
    this.activations.push({
      id,
      listing: slug,
      status: "active",
      reasons: [],
      ended: null,
      uncoveredAt: null,
      events: ["agent.activated"],
    });
  }

  pause(a: ModelActivation, reason: PauseReason): void {
    if (a.status === "deactivated" || a.reasons.includes(reason)) return;
    if (a.reasons.length === 0) a.events.push(`agent.paused ${reason}`);
    a.reasons.push(reason);
    a.status = "paused";
    if (reason === "plan_downgrade") a.uncoveredAt = this.now;
  }

  clear(a: ModelActivation, ...reasons: PauseReason[]): void {
    if (a.status !== "paused") return;
    a.reasons = a.reasons.filter((r) => !reasons.includes(r));
    if (reasons.includes("plan_downgrade")) a.uncoveredAt = null;
    if (a.reasons.length > 0) return;
    a.status = "active";
    a.events.push("agent.resumed");
  }

  deactivate(a: ModelActivation, reason: DeactivationReason): void {
    if (a.status === "deactivated") return;
    a.status = "deactivated";
    a.reasons = [];
    a.ended = reason;
    a.uncoveredAt = null;
    a.events.push(`agent.deactivated ${reason}`);
  }

  /** Covers the oldest activations, as many as the plan allows. */
  cover(): void {
    if (this.plan === "none") {
      for (const a of this.living()) this.deactivate(a, "plan_downgrade");
      return;
    }
    for (const [i, a] of this.living().entries()) {
      if (i >= (COVERS[this.plan] as number)) this.pause(a, "plan_downgrade");
      else if (a.reasons.includes("plan_downgrade")) this.clear(a, "plan_downgrade");
    }
  }

  change(plan: string): void {
    this.plan = plan;
    this.cover();
  }

  /** Advances the time, applying what falls due on the way at its own instant. */
  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const due: [at: number, act: () => void][] = [
        ...[...this.listings].flatMap(([slug, l]): [number, () => void][] =>
          l.state === "LISTED" ? [[l.expiresAt, () => this.end(slug, "EXPIRED")]] : [],
        ),
        ...this.living().flatMap((a): [number, () => void][] =>
          a.uncoveredAt === null
            ? []
            : [
                [
                  a.uncoveredAt + 30 * DAY,
                  () => {
                    this.deactivate(a, "plan_downgrade");
                    this.cover();
                  },
                ],
              ],
        ),
      ];
      const [next] = due.filter(([at]) => at <= until).sort(([a], [b]) => a - b);
      if (!next) break;
      this.now = Math.max(this.now, next[0]);
      next[1]();
    }
    this.now = until;
  }
}

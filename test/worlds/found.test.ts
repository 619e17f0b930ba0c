import { held } from "./held.ts";

/*
 * Worlds that have failed, as short as they could be made. `npm run worlds` prints a failing one like this.
 */

// The webhook is said to be disabled at a time that is over.
held("why", {
  seed: 2000009,
  database: "sqlite",
  delivery: "captured",
  servers: 1,
  keepDays: null,
  steps: [
    { do: "make", noun: "failingWebhook", as: "failingWebhook-0", tenant: "a", seed: 11 },
    { do: "make", noun: "mail", as: "mail-1", tenant: "a", seed: 2 },
  ],
});

// The world does not come to rest after the disk was full.
held("ends", {
  seed: 500008,
  database: "sqlite",
  delivery: "relay",
  servers: 1,
  keepDays: null,
  steps: [
    { do: "make", noun: "scheduled", as: "scheduled-6", tenant: "a", seed: 1701402248 },
    { do: "disturb", by: "fullDisk", on: "scheduled-6", seed: 1170610191 },
  ],
});

// A campaign whose winner somebody is to choose is said to go on at a time that is over.
held("why", {
  seed: 2000045,
  database: "sqlite",
  delivery: "captured",
  servers: 1,
  keepDays: null,
  steps: [
    { do: "make", noun: "crowd", as: "crowd-0", tenant: "a", seed: 3 },
    { do: "make", noun: "manualCampaign", as: "manualCampaign-1", tenant: "a", seed: 1 },
  ],
});

// A folder with opens or clicks of readers cannot be moved to Postgres.
held("crash", {
  seed: 4252015,
  database: "sqlite",
  delivery: "relay",
  servers: 1,
  keepDays: null,
  steps: [
    { do: "make", noun: "crowd", as: "crowd-0", tenant: "a", seed: 1219637055 },
    { do: "make", noun: "clicking", as: "clicking-8", tenant: "a", seed: 1887843302 },
    { do: "disturb", by: "move", on: "clicking-8", seed: 1642694830 },
  ],
});

// An invitation is given up when the mail server is away for longer than a quarter of an hour.
held("ends", {
  seed: 1001008,
  database: "sqlite",
  delivery: "relay",
  servers: 1,
  keepDays: null,
  steps: [
    { do: "make", noun: "member", as: "member-8", tenant: "a", seed: 979602086 },
    { do: "disturb", by: "relayDead", on: "member-8", seed: 1200429290 },
  ],
});

// Queries that a transaction asked together with the one that found the disk full were stored alone.
held("ends", {
  seed: 4261758,
  database: "sqlite",
  delivery: "captured",
  servers: 1,
  keepDays: 5,
  start: "2026-10-16T08:00:00Z",
  steps: [
    { do: "make", noun: "crowd", as: "crowd-0", tenant: "a", seed: 743647574 },
    { do: "make", noun: "confirming", as: "confirming-7", tenant: "a", seed: 1727897195 },
    { do: "disturb", by: "fullDisk", on: "confirming-7", seed: 559440410 },
  ],
});

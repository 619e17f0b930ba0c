// Reasons an operation lacks a way on the page docs/reference/parity.md, by operation or by noun. Reasons for MCP clients are in
// packages/server/src/mcp/api-tools.ts, which excludes the operations.

const CALLBACK = "Only the provider calls it, with a signature.";
const LINK = "Only the link in a mail calls it.";
const SETTING = "It is as it was last set: there is nothing to explain.";
const LOOKED_UP = "Its answer says all there is.";
const KIT = "Guides show the methods of the agent kit, which call it.";
const TOOL = "It is a tool of development.";

/** Reason that `why` does not explain a noun whose objects have no state. Such a noun has an entry only for a better one. */
export const STATELESS = "Its objects have no state: there is nothing to explain.";

export const REASONS = {
  sdk: { stripe: CALLBACK, inbound: CALLBACK },
  cli: {
    "senders.confirmPage": LINK,
    "senders.confirm": LINK,
    "lists.confirmPage": LINK,
    "lists.confirm": LINK,
    stripe: CALLBACK,
    inbound: CALLBACK,
  },
  openapi: {},
  docs: {
    "agent.self": KIT,
    "agent.assets": KIT,
    "agent.brand": KIT,
    "agent.lists": KIT,
    stripe: CALLBACK,
    inbound: CALLBACK,
  },
  example: {
    "jobs.retry": "Its example needs a job that has failed for good, which no call can make.",
    "health.openapi": "The answer is the whole document.",
    "dashboard.signOut": "Its example needs a browser that is signed in, which no call can make.",
    "dashboard.signOutPerson": "Its example needs a browser that is signed in, which no call can make.",
    stripe: CALLBACK,
    inbound: CALLBACK,
  },
  explain: {
    inboundDomains: "Its response names the records that are missing.",
    senders: "Its response names the records that are missing.",
    automations: "An entry is explained, by the id that `automations.entries` gives.",
    suppressions: "`why` takes the address and names its suppressions.",
    people: "`why` takes the address.",
    forms: SETTING,
    metrics: "`metrics.verify` says which numbers differ, and since when.",
    segments: SETTING,
    templates: SETTING,
    keys: SETTING,
    relays: "`relays.test` explains each step of the way.",
    readers: "`readers.list` says with which error a reader cannot go on.",
    landingPages: SETTING,
    lint: "Each finding has its reason.",
    jobs: "Its list names the last error of each.",
    queue: LOOKED_UP,
    domains: "Each finding has its reason and the record to publish.",
    me: LOOKED_UP,
    health: LOOKED_UP,
    approvals: LOOKED_UP,
    payments: LOOKED_UP,
    clock: TOOL,
    world: TOOL,
    faults: TOOL,
    requests: "Each has the code of its error.",
    stripe: CALLBACK,
    inbound: CALLBACK,
  },
};

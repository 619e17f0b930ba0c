/** Nouns whose changes are recorded, with the verbs that change nothing; a string is the reason for which none are. */
type Audited = readonly string[] | string;

const EVENTS = "Its history is in the events.";
const NO_CHANGE = "It changes nothing, or only what is in progress.";
const OF_RUNS = "Its history is that of the run.";
const DEV = "It is of dev mode.";

/** Declaration for each noun of the API; `audit.test.ts` finds a missing one. */
export const AUDITED: Readonly<Record<string, Audited>> = {
  emails: EVENTS,
  received: EVENTS,
  contacts: EVENTS,
  people: EVENTS,
  suppressions: EVENTS,
  events: EVENTS,
  metrics: [],
  templates: ["preview", "render", "test", "send"],
  inboundDomains: ["verify"],
  senders: ["verify", "confirm"],
  providers: [],
  lists: ["add", "remove", "removeOne", "resend", "confirm"],
  forms: [],
  segments: ["preview"],
  campaigns: ["preview", "test"],
  automations: ["test"],
  webhooks: ["test", "redeliver", "redeliverSince"],
  keys: [],
  members: [],
  dashboard: ["link"],
  workspaces: [],
  queue: [],
  relays: ["test"],
  listings: ["checkout", "resume"],
  activations: [],
  credits: [],
  plans: [],
  payments: [],
  brand: [],
  landingPages: [],
  leadMagnets: [],
  assets: [],
  "agent.landingPages": [],
  "agent.leadMagnets": [],
  "agent.assets": [],
  audit: NO_CHANGE,
  requests: NO_CHANGE,
  mailStates: NO_CHANGE,
  domains: NO_CHANGE,
  lint: NO_CHANGE,
  explanations: NO_CHANGE,
  catalog: NO_CHANGE,
  me: NO_CHANGE,
  health: NO_CHANGE,
  jobs: NO_CHANGE,
  deliveries: NO_CHANGE,
  approvals: NO_CHANGE,
  messages: "Its history is the conversation.",
  runs: OF_RUNS,
  "agent.self": NO_CHANGE,
  "agent.brand": NO_CHANGE,
  "agent.lists": NO_CHANGE,
  "agent.explanations": NO_CHANGE,
  "agent.messages": OF_RUNS,
  "agent.runs": OF_RUNS,
  "agent.credits": OF_RUNS,
  "agent.wakeups": OF_RUNS,
  testInbox: NO_CHANGE,
  inbox: DEV,
  clock: DEV,
  world: DEV,
  faults: DEV,
  inbound: EVENTS,
  stripe: "Its history is that of the payment.",
};

/** True if the changes of an operation are recorded. */
export function isAudited(noun: string, verb: string): boolean {
  const audited = AUDITED[noun];
  return audited !== undefined && typeof audited !== "string" && !audited.includes(verb);
}

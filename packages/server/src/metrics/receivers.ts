import type { MailExchange } from "../lib/domain-records.ts";

/** The large receivers, which take mail for many domains: their own ones, and the names of their mail servers. */
const RECEIVERS = {
  gmail: { own: /^(?:gmail|googlemail)\.com$/, servers: /(?:^|\.)(?:google|googlemail)\.com$/ },
  microsoft: {
    own: /^(?:hotmail|outlook|live|msn|windowslive|passport)\.(?:com|[a-z]{2}|co\.[a-z]{2}|com\.[a-z]{2})$/,
    servers: /(?:^|\.)(?:outlook\.com|mx\.microsoft)$/,
  },
  yahoo: {
    own: /^(?:(?:yahoo|ymail)\.(?:com|[a-z]{2}|co\.[a-z]{2}|com\.[a-z]{2})|rocketmail\.com|myyahoo\.com|aol\.(?:com|[a-z]{2}|co\.uk)|aim\.com)$/,
    servers: /(?:^|\.)yahoodns\.net$/,
  },
} as const;

/** Groups domains by who takes their mail. */
export function receiverOf(domain: string): string {
  return Object.entries(RECEIVERS).find(([, { own }]) => own.test(domain))?.[0] ?? domain;
}

/** Groups of receivers: few enough for labels of Prometheus. */
export type ReceiverGroup = keyof typeof RECEIVERS | "other";

/** The group of what `receiverOf` gives. */
export function groupOf(receiver: string): ReceiverGroup {
  return Object.hasOwn(RECEIVERS, receiver) ? (receiver as ReceiverGroup) : "other";
}

/** The receiver whose mail servers these are; null for another one. */
export function receiverOfServers(servers: readonly MailExchange[]): string | null {
  const [first] = [...servers].sort((a, b) => a.priority - b.priority);
  const name = first?.exchange.toLowerCase().replace(/\.$/, "") ?? "";
  return Object.entries(RECEIVERS).find(([, one]) => one.servers.test(name))?.[0] ?? null;
}

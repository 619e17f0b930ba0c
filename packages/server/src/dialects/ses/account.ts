import { contract } from "@mailsvc/sdk/contract";
import { DAY } from "../../lib/units.ts";
import { type Operation, readOperation } from "../operation.ts";

/** `GetAccount`: the rate at which this key may send, and how much was sent in the last day. */
export const getAccount: Operation = readOperation({
  path: "/v2/email/account",
  note: "SentLast24Hours counts whole hours",
  run: async (_input, { deps, read }) => {
    const now = deps.clock.now();
    const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
    const { data } = await read(contract.metrics.get, { from: dayOf(now - DAY), to: dayOf(now), interval: "hour", zone: "UTC" });
    const recent = data.filter(({ to }) => Date.parse(to) > now - DAY);
    return {
      ...{ DedicatedIpAutoWarmupEnabled: false, EnforcementStatus: "HEALTHY", SendingEnabled: true },
      // Mail of a server in dev mode stays there, as that of an account in the sandbox does.
      ProductionAccessEnabled: !deps.config.dev,
      SendQuota: {
        Max24HourSend: -1,
        MaxSendRate: deps.config.rates.send.perSecond,
        SentLast24Hours: recent.reduce((sum, { sent }) => sum + sent, 0),
      },
      SuppressionAttributes: { SuppressedReasons: ["BOUNCE", "COMPLAINT"] },
    };
  },
});

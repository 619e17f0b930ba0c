import type { Universe } from "../universe.ts";

// Mails of a tenth of a second leave together.
const GROUP_MS = 100;

// Other servers learn of a change within seconds.
const LEARNING_MS = 10_000;

/**
 * Says over which relays more mail has left in some stretch than their pace allows. Each server begins with a full group, also after a start
 * and after a change. Where servers have come and gone, one may take the share of another for a while.
 */
export function findTooFast({ ledger, script }: Universe): string[] {
  const sent = Map.groupBy(
    ledger.handOvers.filter(({ relay }) => relay !== null),
    ({ relay }) => relay as string,
  );
  // The second server of a world starts after its first.
  const isSteady = ledger.starts.length < script.servers;
  return [...sent].flatMap(([relay, mails]) => {
    const paces = ledger.paces.filter((pace) => pace.relay === relay);
    const times = mails.map(({ at }) => at);
    for (const [i, first] of times.entries())
      for (let j = i + 1; j < times.length; j += 1) {
        const last = times[j] as number;
        const inForce = paces.filter(({ from }, k) => from <= last && (paces[k + 1]?.from ?? last) >= first - LEARNING_MS);
        const fastest = Math.max(...inForce.map(({ perSecond }) => perSecond ?? Number.POSITIVE_INFINITY));
        const perSecond = fastest * (isSteady ? 1 : script.servers);
        const fresh = [...ledger.starts, ...paces.slice(1).map(({ from }) => from)].filter(
          (at) => at > first - GROUP_MS && at <= last,
        ).length;
        const group = Math.max(1, Math.floor((perSecond * GROUP_MS) / 1000));
        const most = Math.ceil((perSecond * (last - first)) / 1000 + group * script.servers * (fresh + 1));
        if (j - i + 1 > most)
          return [`Over the relay ${relay} ${j - i + 1} mails left within ${last - first} ms, and its pace is ${fastest} a second.`];
      }
    return [];
  });
}

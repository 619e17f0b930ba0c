import { labelTimer } from "@mailsvc/sdk/contract/timer-labels";
import { Box, Text, useApp, useInput, useWindowSize } from "ink";
import { useEffect, useRef, useState } from "react";
import { safeText } from "../text/safe-text.ts";
import { formatTimestamp } from "../text/units.ts";
import { measureWidth, truncate } from "../text/width.ts";
import type { DevServer, ServerSnapshot } from "./dev-server.ts";

export interface DevScreenProps {
  url: string;
  apiKey: string | null;
  /** Address for mail submission over SMTP; null for none. */
  smtpUrl: string | null;
  /** The hosts that mail leaves through; empty while all of it is captured. */
  relayHosts: readonly string[];
  /** The keys of the brand and the builder; null when the server has one workspace. */
  profiles: Readonly<Record<string, { apiKey: string }>> | null;
  server: DevServer;
  /** Waits in real time; ends early when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Lines of the server's log, newest last. */
  log: { lines(): readonly string[] };
}

const POLL_MS = 700;
const ADVANCE = "15m";
// Height of everything but the inbox and the log: title, key, SMTP address, clock, headings, notice, keys and blank lines.
const FRAME_LINES = 16;
const KEYS: readonly (readonly [key: string, meaning: string])[] = [
  ["f", "freeze/thaw"],
  ["n", "next timer"],
  ["a", `+${ADVANCE}`],
  ["r", "erase all"],
  ["q", "quit"],
];

/** The screen of `mailsvc dev`. */
export function DevScreen({ server, sleep, log, ...addresses }: DevScreenProps) {
  const { columns, rows } = useWindowSize();
  const { snapshot, notice, asksToErase } = useServer(server, sleep);
  const logLines = log.lines().slice(-3);
  return (
    <Box flexDirection="column" paddingX={1}>
      <Addresses {...addresses} />
      <Clock snapshot={snapshot} />
      {snapshot?.obstacle ? (
        <Line name="waits">
          <Text color="yellow">{snapshot.obstacle}</Text>
        </Line>
      ) : null}
      <Text> </Text>
      <Inbox
        snapshot={snapshot}
        captures={addresses.relayHosts.length === 0}
        columns={columns - 2}
        rows={Math.max(1, rows - FRAME_LINES - logLines.length - countLines(snapshot))}
      />
      <Undelivered snapshot={snapshot} columns={columns - 2} />
      <Requests snapshot={snapshot} columns={columns - 2} />
      <Text> </Text>
      {logLines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: three lines that scroll; they have no other identity
        <Text key={i} dimColor wrap="truncate">
          {safeText(line)}
        </Text>
      ))}
      <Text color="yellow" wrap="truncate">
        {asksToErase ? "Erase all data of this server? y/N" : safeText(notice) || " "}
      </Text>
      <Text>
        {KEYS.map(([key, meaning]) => (
          <Text key={key}>
            <Text bold>{key}</Text>
            <Text dimColor>{` ${meaning}   `}</Text>
          </Text>
        ))}
      </Text>
    </Box>
  );
}

/** The lines of what is shown only when there is some of it. */
function countLines(snapshot: ServerSnapshot | undefined): number {
  if (!snapshot) return 0;
  const { undelivered, requests, obstacle } = snapshot;
  return undelivered.length + (requests.length > 0 ? requests.length + 2 : 0) + (obstacle ? 1 : 0);
}

/** Polls the server, and makes the keys act on it. */
function useServer(server: DevServer, sleep: DevScreenProps["sleep"]) {
  const { exit } = useApp();
  const [snapshot, setSnapshot] = useState<ServerSnapshot>();
  const [notice, setNotice] = useState("");
  const busy = useRef(false);
  const [asksToErase, setAsksToErase] = useState(false);

  const refresh = async (): Promise<void> => setSnapshot(await server.poll());

  useEffect(() => {
    const ended = new AbortController();
    const poll = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        try {
          const seen = await server.poll();
          if (!ended.signal.aborted) setSnapshot(seen);
        } catch (error) {
          if (!ended.signal.aborted) setNotice(server.explain(error));
        }
        await sleep(POLL_MS, ended.signal);
      }
    };
    void poll();
    return () => ended.abort();
  }, [server, sleep]);

  const run = async (action: () => Promise<string>): Promise<void> => {
    // Ignore keys while an action is running, so that a second press does not repeat it.
    if (busy.current) return;
    busy.current = true;
    try {
      setNotice(await action());
      await refresh();
    } catch (error) {
      setNotice(server.explain(error));
    } finally {
      busy.current = false;
    }
  };

  useInput((key) => {
    if (asksToErase) {
      setAsksToErase(false);
      if (key === "y") void run(server.reset);
      else setNotice("Nothing was erased.");
      return;
    }
    if (key === "q") exit();
    if (key === "f") void run(() => server.toggleClock(snapshot?.clock.mode === "frozen"));
    if (key === "n") void run(server.nextTimer);
    if (key === "a") void run(() => server.advance(ADVANCE));
    if (key === "r") setAsksToErase(true);
  });

  return { snapshot, notice, asksToErase };
}

/** Addresses of the server, its keys, and the destination of its mail. */
function Addresses({ url, apiKey, smtpUrl, relayHosts, profiles }: Omit<DevScreenProps, "server" | "sleep" | "log">) {
  return (
    <>
      <Text>
        <Text bold color="cyan">
          mailsvc dev
        </Text>
        {"  "}
        <Text bold>{url}</Text>
      </Text>
      {profiles ? (
        Object.entries(profiles).map(([name, profile]) => (
          <Line key={name} name={name}>
            {safeText(profile.apiKey)}
          </Line>
        ))
      ) : apiKey ? (
        <Line name="key">{safeText(apiKey)}</Line>
      ) : null}
      {relayHosts.length > 0 ? (
        <Line name="mail">
          <Text color="yellow">{`leaves through ${safeText(relayHosts.join(", "))}`}</Text>
        </Line>
      ) : null}
      {smtpUrl ? <Line name="smtp">{safeText(smtpUrl)}</Line> : null}
    </>
  );
}

function Line({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <Box>
      <Box width={9} flexShrink={0}>
        <Text dimColor>{name}</Text>
      </Box>
      <Text wrap="truncate">{children}</Text>
    </Box>
  );
}

function Clock({ snapshot }: { snapshot: ServerSnapshot | undefined }) {
  if (!snapshot) return <Line name="clock">…</Line>;
  const { now, mode, next, timers } = snapshot.clock;
  return (
    <Box flexDirection="column">
      <Line name="clock">
        {formatTimestamp(now)} UTC <Text color={mode === "frozen" ? "yellow" : "green"}>{mode}</Text>
        {snapshot.faults > 0 ? (
          <Text color="yellow">{`  ${snapshot.faults} fault ${snapshot.faults === 1 ? "rule" : "rules"}`}</Text>
        ) : null}
      </Line>
      <Line name="next">{next ? `${formatTimestamp(next.at)} ${safeText(labelTimer(next.name))} (${timers} waiting)` : "no timers"}</Line>
    </Box>
  );
}

function pad(text: string, width: number): string {
  const cut = truncate(text, width);
  return cut + " ".repeat(Math.max(0, width - measureWidth(cut)));
}

interface InboxProps {
  snapshot: ServerSnapshot | undefined;
  /** True if all mail is captured. */
  captures: boolean;
  columns: number;
  rows: number;
}

function Inbox({ snapshot, captures, columns, rows }: InboxProps) {
  const mails = snapshot?.mails ?? [];
  const to = Math.max(12, Math.min(34, Math.floor(columns / 3)));
  const shown = mails.slice(0, rows);
  const hidden = (snapshot?.total ?? 0) - shown.length;
  return (
    <Box flexDirection="column">
      <Text bold>{`Inbox${snapshot ? `  ${snapshot.total}` : ""}`}</Text>
      {mails.length === 0 ? (
        <Text dimColor>{captures ? "No mail yet. Every email this server sends is captured here." : "No captured mail."}</Text>
      ) : null}
      {shown.map((mail) => (
        <Text key={mail.id} wrap="truncate">
          <Text dimColor>{formatTimestamp(mail.receivedAt).slice(11)}</Text>
          {`  ${pad(safeText(mail.to), to)}  ${safeText(mail.subject)}`}
        </Text>
      ))}
      {hidden > 0 && shown.length > 0 ? <Text dimColor>{`… ${hidden} more: mailsvc inbox list`}</Text> : null}
    </Box>
  );
}

/** The latest requests of programs, those that were refused too. */
function Requests({ snapshot, columns }: { snapshot: ServerSnapshot | undefined; columns: number }) {
  if (!snapshot || snapshot.requests.length === 0) return null;
  const path = Math.max(16, Math.min(44, Math.floor(columns / 2)));
  return (
    <Box flexDirection="column" marginTop={1}>
      <Text bold>Requests</Text>
      {snapshot.requests.map(({ id, at, method, path: asked, status, error, key, ms }) => (
        <Text key={id} wrap="truncate">
          <Text dimColor>{formatTimestamp(at).slice(11)}</Text>
          <Text color={status >= 500 ? "red" : status >= 400 ? "yellow" : "green"}>{`  ${status}`}</Text>
          {`  ${pad(safeText(`${method} ${asked}`), path)}  ${error ?? `${ms} ms`}`}
          <Text dimColor>{`  ${key === null ? "no key" : safeText(key.name ?? key.preview ?? key.id ?? "")}`}</Text>
        </Text>
      ))}
    </Box>
  );
}

/** Emails that bounced, were deferred or failed: the inbox alone would show nothing of them. */
function Undelivered({ snapshot, columns }: { snapshot: ServerSnapshot | undefined; columns: number }) {
  if (!snapshot || snapshot.undelivered.length === 0) return null;
  const to = Math.max(12, Math.min(34, Math.floor(columns / 3)));
  return (
    <Box flexDirection="column" marginTop={1}>
      <Text bold color="red">{`Not delivered  ${snapshot.undeliveredTotal}`}</Text>
      {snapshot.undelivered.map((email) => (
        <Text key={email.id} wrap="truncate">
          <Text dimColor>{formatTimestamp(email.updatedAt).slice(11)}</Text>
          {`  ${pad(safeText(email.to), to)}  `}
          <Text color={email.status === "deferred" ? "yellow" : "red"}>{email.status}</Text>
          {`  ${safeText(email.lastError?.message ?? email.subject)}`}
        </Text>
      ))}
    </Box>
  );
}

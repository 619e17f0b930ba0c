import { postfixMissing, startPostfix } from "../../packages/server/test/postfix.ts";
import { mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { BODY, load, sends } from "../load/load.ts";
import { loadSmtp, type SmtpLoad } from "../load/smtp-load.ts";

const CONNECTIONS = 100;
const ROUNDS = 5;
const TIMES = { connections: CONNECTIONS, warmupMs: 8000, durationMs: 3000 };

const MESSAGE = [
  `From: ${BODY.from}`,
  "To: reader@mail.acme.dev",
  `Subject: ${BODY.subject}`,
  "MIME-Version: 1.0",
  "Content-Type: text/html; charset=utf-8",
  "X-Metadata-kind: receipt",
  "",
  BODY.html,
  "",
].join("\r\n");

interface Round {
  readonly ours: SmtpLoad;
  readonly json: { perSecond: number; cpu: number };
  readonly postfix: SmtpLoad | null;
}

/** Mails that are submitted over SMTP and durable, per second. */
export const submission: Bench = {
  name: "submission",
  meaning:
    "Mails a second that arrive over SMTP at 100 connections with a login, pipelined, each answered only when its rows are on disk, while mailsvc also delivers in the background. " +
    "json: the same server with sends over HTTP. postfix: Postfix with its queue on the same disk, without a login, delivering to a maildir. Ratios are medians of those within each round; cpu: processor time of the server for each mail, deliveries included.",
  run: async () => {
    const rounds: Round[] = [];
    for (let i = 0; i < ROUNDS; i += 1) rounds.push(await round());
    const figure = (name: string, unit: string, of: (one: Round) => number): Figure => {
      const values = rounds.map(of);
      return { name, value: median(values), unit, against: null, ratio: null, rounds: values };
    };
    const own = figure("submission", "mails/s", ({ ours }) => ours.perSecond);
    const ratio = (of: (one: Round) => number): number => median(rounds.map((one) => one.ours.perSecond / of(one)));
    const figures: Figure[] = [
      {
        ...own,
        name: "submission.vs-json",
        against: "POST /api/v1/send",
        ratio: ratio(({ json }) => json.perSecond),
        goal: { op: ">=", than: 0.5 },
      },
      {
        ...figure("submission.cpu", "us/mail", ({ ours }) => ours.cpu),
        against: "POST /api/v1/send",
        ratio: median(rounds.map(({ ours, json }) => json.cpu / ours.cpu)),
        goal: { op: ">=", than: 0.5 },
      },
      figure("submission.json", "sends/s", ({ json }) => json.perSecond),
    ];
    const postfix = rounds.flatMap((one) => one.postfix ?? []);
    if (postfix.length < ROUNDS) return figures;
    const rate = figure("submission.postfix", "mails/s", (one) => one.postfix?.perSecond ?? Number.NaN);
    return [
      ...figures,
      {
        ...own,
        name: "submission.vs-postfix",
        against: "Postfix",
        ratio: ratio((one) => one.postfix?.perSecond ?? Number.NaN),
        goal: { op: ">=", than: 1 },
      },
      rate,
    ];
  },
};

async function round(): Promise<Round> {
  const server = await mailsvc();
  try {
    const smtp = { port: Number(new URL(server.smtpUrl).port), apiKey: server.apiKey, domain: "mail.acme.dev", message: MESSAGE };
    const ours = await loadSmtp({ ...smtp, ...TIMES, pids: [server.pid] });
    const json = await load({ port: server.port, pid: server.pid, requests: sends(server.apiKey), ...TIMES, timeoutMs: 5000 });
    return { ours, json: { perSecond: json.perSecond, cpu: json.cpu ?? Number.NaN }, postfix: await loadPostfix() };
  } finally {
    await server.stop();
  }
}

/** Null where Postfix cannot be run. */
async function loadPostfix(): Promise<SmtpLoad | null> {
  if (postfixMissing() !== null) return null;
  const postfix = await startPostfix({ smtpd_client_connection_count_limit: "0" });
  try {
    return await loadSmtp({ port: postfix.port, apiKey: null, domain: "example.com", message: MESSAGE, ...TIMES, pids: [] });
  } finally {
    await postfix.stop();
  }
}

/** @jsxImportSource preact */
import type { EmailDetail, MailAuthentication, ReceivedMailDetail } from "@mailsvc/sdk/contract";
import { toneOf } from "@mailsvc/sdk/contract/tones";
import { useState } from "preact/hooks";
import { workspaceQuery } from "../../api/session.ts";
import { toHref } from "../../router.tsx";
import { MailFrame } from "../mail-frame.tsx";
import { Status } from "../status.tsx";
import { formatBytes, Time } from "../time.tsx";
import { explainAutomatic, nameSender, shortenAddress } from "./words.ts";

/** A mail that was received, in a conversation: what its writer wrote, and folded what it quotes. */
export function TheirMail({ mail }: { readonly mail: ReceivedMailDetail }) {
  const { from, to, receivedAt, text, reply, html, attachments, authentication, autoReply, truncated } = mail;
  const [asHtml, setAsHtml] = useState(false);
  const quotes = text.trim() !== reply.trim();
  return (
    <article class="bubble theirs" aria-label={`Mail by ${nameSender(mail)}`}>
      <header>
        <strong>{nameSender(mail)}</strong>
        <span class="soft">
          {from === null || mail.fromName === null ? "" : `${from} `}to {shortenAddress(to)}
        </span>
        <Time at={receivedAt} exactly />
      </header>
      {autoReply === null ? null : (
        <p>
          <span class="status">automatic</span> <span class="soft">{explainAutomatic(autoReply)}</span>
        </p>
      )}
      {authentication === null ? null : <Authentication results={authentication} />}
      {asHtml ? (
        <MailFrame path={`received/${encodeURIComponent(mail.id)}`} html={html ?? ""} />
      ) : (
        <>
          <p class="said">{reply || text || <span class="soft">(no text)</span>}</p>
          {quotes && reply !== "" ? (
            <details>
              <summary>Show what it quotes</summary>
              <p class="said quoted">{text}</p>
            </details>
          ) : null}
        </>
      )}
      <Files id={mail.id} files={attachments} />
      {truncated ? <p class="soft">It is longer than what is shown here: only its source is complete.</p> : null}
      <footer>
        {html === null ? null : (
          <button type="button" class="link" onClick={() => setAsHtml(!asHtml)}>
            {asHtml ? "Show the text" : "Show the HTML"}
          </button>
        )}
        <details class="more">
          <summary>Headers</summary>
          <table class="headers">
            <tbody>
              {mail.headers.map(({ name, value }, i) => (
                <tr key={i}>
                  <th scope="row">{name}</th>
                  <td>{value}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </footer>
    </article>
  );
}

/** One of our mails in a conversation, as it was sent. */
export function OurMail({ mail: { id, from, recipients, text, html, createdAt, status } }: { readonly mail: EmailDetail }) {
  const [asHtml, setAsHtml] = useState(false);
  const to = recipients.map(({ email }) => email).join(", ");
  return (
    <article class="bubble ours" aria-label={`Our mail to ${to}`}>
      <header>
        <strong>{from}</strong>
        <span class="soft">to {to}</span>
        <Time at={createdAt} exactly />
      </header>
      {asHtml || (text === null && html !== null) ? (
        <MailFrame path={`emails/${encodeURIComponent(id)}`} html={html ?? ""} />
      ) : (
        <p class="said">{text ?? <span class="soft">(no text)</span>}</p>
      )}
      <footer>
        <Status status={status} />
        <a href={toHref(`/activity/${id}`)}>What happened</a>
        {html === null || text === null ? null : (
          <button type="button" class="link" onClick={() => setAsHtml(!asHtml)}>
            {asHtml ? "Show the text" : "Show the HTML"}
          </button>
        )}
      </footer>
    </article>
  );
}

const NAMES = { spf: "SPF", dkim: "DKIM", dmarc: "DMARC" } as const;

/** Results of the sender's authentication, with reasons for missing ones. */
function Authentication({ results }: { readonly results: MailAuthentication }) {
  const checked = (["spf", "dkim", "dmarc"] as const).flatMap((name) => (results[name] === null ? [] : [{ name, result: results[name] }]));
  return (
    <p class="authentication">
      {checked.map(({ name, result }) => (
        <span key={name} class={`status ${toneOf(result)}`}>
          {NAMES[name]} {result}
        </span>
      ))}
      {results.signers.length === 0 ? null : <span class="soft">signed by {results.signers.join(", ")}</span>}
      {results.reason === null ? null : <span class="soft">{results.reason}</span>}
    </p>
  );
}

function Files({ id, files }: { readonly id: string; readonly files: ReceivedMailDetail["attachments"] }) {
  if (files.length === 0) return null;
  const search = new URLSearchParams(workspaceQuery()).toString();
  return (
    <ul class="files" aria-label="Attachments">
      {files.map(({ number, filename, contentType, size }) => (
        <li key={number}>
          <a
            href={`/dashboard/frame/received/${encodeURIComponent(id)}/attachments/${number}?${search}`}
            download={filename || "attachment"}
          >
            {filename || "attachment"}
          </a>{" "}
          <span class="soft">
            {contentType} · {formatBytes(size)}
          </span>
        </li>
      ))}
    </ul>
  );
}

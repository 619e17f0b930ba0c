/** @jsxImportSource preact */
import type { CapturedMailDetail } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { workspaceQuery } from "../api/session.ts";
import { CodeBlock } from "./code-block.tsx";
import { Loading } from "./empty.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Facts } from "./facts.tsx";
import { MailFrame } from "./mail-frame.tsx";
import { useResource } from "./resource.ts";
import { Tabs } from "./tabs.tsx";
import { formatBytes, Time } from "./time.tsx";

interface Props {
  readonly mail: CapturedMailDetail;
  readonly raw: (signal: AbortSignal) => Promise<string>;
}

/** A mail as it was delivered: its HTML, its text, its source, its headers and files. */
export function MailView({ mail, raw }: Props) {
  const { id, html, text, headers, attachments, icalEvent, truncated } = mail;
  const [chosen, choose] = useState(html !== null ? "html" : text !== null ? "text" : "source");
  const tabs = [
    ...(html === null ? [] : [{ name: "html", label: "HTML" }]),
    ...(text === null ? [] : [{ name: "text", label: "Text" }]),
    ...(icalEvent === null ? [] : [{ name: "invitation", label: "Invitation" }]),
    { name: "source", label: "Source" },
    { name: "headers", label: "Headers", count: headers.length },
    ...(attachments.length === 0 ? [] : [{ name: "files", label: "Attachments", count: attachments.length }]),
  ];
  return (
    <>
      <Facts
        facts={[
          ["From", mail.from],
          ["To", mail.to],
          ["Captured", <Time key="at" at={mail.receivedAt} exactly />],
          ["Size", formatBytes(mail.size)],
        ]}
      />
      {truncated ? <p class="soft">It is longer than what is shown here: only its source is complete.</p> : null}
      <Tabs label="The mail" tabs={tabs} chosen={chosen} choose={choose}>
        {chosen === "html" ? <MailFrame path={`inbox/${encodeURIComponent(id)}`} html={html ?? ""} /> : null}
        {chosen === "text" ? <pre class="text">{text}</pre> : null}
        {chosen === "invitation" && icalEvent !== null ? <Invitation event={icalEvent} /> : null}
        {chosen === "source" ? <Source id={id} raw={raw} /> : null}
        {chosen === "headers" ? <Headers headers={headers} /> : null}
        {chosen === "files" ? <Files mail={mail} /> : null}
      </Tabs>
    </>
  );
}

/** The event that a mail program shows with buttons. */
function Invitation({ event }: { readonly event: NonNullable<CapturedMailDetail["icalEvent"]> }) {
  const { method, summary, start, end, location, organizer, attendees, content } = event;
  return (
    <>
      <Facts
        facts={[
          ["Method", method],
          ["Event", summary],
          ["Start", start],
          ["End", end],
          ["Location", location],
          ["Organizer", organizer],
          ["Attendees", attendees.join(", ")],
        ]}
      />
      <CodeBlock label="The calendar" code={content} />
    </>
  );
}

function Source({ id, raw }: { readonly id: string; readonly raw: Props["raw"] }) {
  const { data, error, reload } = useResource(raw, [id]);
  if (data === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />;
  return <CodeBlock label="The source of the mail" code={data} />;
}

function Headers({ headers }: { readonly headers: CapturedMailDetail["headers"] }) {
  return (
    <table class="headers">
      <tbody>
        {headers.map(({ name, value }, i) => (
          <tr key={i}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Files({ mail: { id, attachments } }: { readonly mail: CapturedMailDetail }) {
  const search = new URLSearchParams(workspaceQuery()).toString();
  return (
    <ul class="items">
      {attachments.map(({ filename, contentType, size, contentId }, i) => (
        <li key={i}>
          <a href={`/dashboard/frame/inbox/${encodeURIComponent(id)}/attachments/${i}?${search}`} download={filename || "attachment"}>
            {filename || "attachment"}
          </a>{" "}
          <span class="soft">
            {contentType} · {formatBytes(size)}
            {contentId === null ? "" : " · inline"}
          </span>
        </li>
      ))}
    </ul>
  );
}

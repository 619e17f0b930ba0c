/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { workspaceQuery } from "../api/session.ts";

interface Props {
  /** Where the mail's HTML is, below /dashboard/frame. */
  readonly path: string;
  readonly html: string;
}

const REMOTE =
  /(?:src|srcset|background|poster|href)\s*=\s*["']?\s*(?:https?:)?\/\/[^"'\s>]+\.(?:png|jpe?g|gif|webp|svg|css|avif)|<(?:img|video|audio|source|link)[^>]+(?:https?:)?\/\/|url\(\s*["']?\s*(?:https?:)?\/\//i;

/**
 * A mail as its reader sees it. It is hostile content: the frame has no scripts, no forms and no origin, by its sandbox and by the policy
 * of its document, and loads nothing from elsewhere unless the person asks for it.
 */
export function MailFrame({ path, html }: Props) {
  const [width, setWidth] = useState<"desktop" | "phone">("desktop");
  const [scheme, setScheme] = useState<"light" | "dark">("light");
  const [remote, setRemote] = useState(false);
  const query = new URLSearchParams({ ...workspaceQuery(), scheme, ...(remote && { remote: "1" }) });
  const hasRemote = REMOTE.test(html);
  const toggle = (text: string, on: boolean, set: () => void) => (
    <button type="button" aria-pressed={on} onClick={set}>
      {text}
    </button>
  );
  return (
    <div class={`mail-frame ${width} ${scheme}`}>
      <div class="bar">
        <fieldset class="toggles">
          <legend class="hidden">Width</legend>
          {toggle("Desktop", width === "desktop", () => setWidth("desktop"))}
          {toggle("Phone", width === "phone", () => setWidth("phone"))}
        </fieldset>
        <fieldset class="toggles">
          <legend class="hidden">Colors of the mail program</legend>
          {toggle("Light", scheme === "light", () => setScheme("light"))}
          {toggle("Dark", scheme === "dark", () => setScheme("dark"))}
        </fieldset>
        {hasRemote && !remote ? (
          <span class="remote">
            Content from other servers is blocked.{" "}
            <button type="button" class="link" onClick={() => setRemote(true)}>
              Load it
            </button>
          </span>
        ) : null}
      </div>
      <div class="stage">
        <iframe
          title="The mail as HTML"
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerpolicy="no-referrer"
          src={`/dashboard/frame/${path}?${query}`}
        />
      </div>
    </div>
  );
}

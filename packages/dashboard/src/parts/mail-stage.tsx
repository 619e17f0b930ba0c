/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { hasRemoteContent } from "./remote-content.ts";

/** Display options of a mail. */
export interface MailLook {
  readonly scheme: "light" | "dark";
  /** True to load remote content. */
  readonly remote: boolean;
}

interface Props {
  readonly html: string;
  /** The frame that shows the mail. */
  readonly children: (look: MailLook) => ComponentChildren;
}

/** Controls around the frame of a mail: width, color scheme and remote content. */
export function MailStage({ html, children }: Props) {
  const [width, setWidth] = useState<"desktop" | "phone">("desktop");
  const [scheme, setScheme] = useState<"light" | "dark">("light");
  const [remote, setRemote] = useState(false);
  const hasRemote = useMemo(() => hasRemoteContent(html, location.origin), [html]);
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
            Pictures and other remote content are blocked.{" "}
            <button type="button" class="link" onClick={() => setRemote(true)}>
              Load it
            </button>
          </span>
        ) : null}
      </div>
      <div class="stage">{children({ scheme, remote })}</div>
    </div>
  );
}

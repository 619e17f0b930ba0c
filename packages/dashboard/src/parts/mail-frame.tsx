/** @jsxImportSource preact */
import { workspaceQuery } from "../api/session.ts";
import { MailStage } from "./mail-stage.tsx";

interface Props {
  /** Path of the mail's HTML below /dashboard/frame. */
  readonly path: string;
  readonly html: string;
  /** Further query parameters, such as the recipient it is shown for. */
  readonly about?: Readonly<Record<string, string>>;
  /** Changes with the content, which is then loaded again. */
  readonly revision?: string;
}

/**
 * A mail as its reader sees it. It is hostile content: the frame has no scripts, no forms and no origin, by its sandbox and by the policy
 * of its document, and loads nothing from elsewhere unless the person asks for it.
 */
export function MailFrame({ path, html, about = {}, revision = "" }: Props) {
  return (
    <MailStage html={html}>
      {({ scheme, remote }) => (
        <iframe
          key={revision}
          title="The mail as HTML"
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerpolicy="no-referrer"
          src={`/dashboard/frame/${path}?${new URLSearchParams({ ...workspaceQuery(), ...about, scheme, ...(remote && { remote: "1" }) })}`}
        />
      )}
    </MailStage>
  );
}

/** @jsxImportSource preact */
import { useEffect, useRef, useState } from "preact/hooks";
import { type MailLook, MailStage } from "./mail-stage.tsx";

/** HTML that only this page has, such as a template while it is edited, as its reader sees it. */
export function HtmlPreview({ html }: { readonly html: string }) {
  return <MailStage html={html}>{(look) => <Canvas html={html} {...look} />}</MailStage>;
}

/**
 * A frame with a page of the server that shows what it is sent (`packages/server/src/dashboard/frame.ts`). Its one script is the server's;
 * the HTML comes into a frame inside of it, which has none. Both have no origin.
 */
function Canvas({ html, scheme, remote }: MailLook & { readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  // Number of loads of the frame; each asks for the HTML.
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    const listen = ({ source, data }: MessageEvent): void => {
      if (data === "ready" && source === frame.current?.contentWindow) setAsked((n) => n + 1);
    };
    window.addEventListener("message", listen);
    return () => window.removeEventListener("message", listen);
  }, []);
  useEffect(() => {
    // A frame without an origin cannot be named as the target. Its content came from this server: the policy allows no other.
    if (asked > 0) frame.current?.contentWindow?.postMessage({ html, scheme }, "*");
  }, [asked, html, scheme]);
  return (
    <iframe
      ref={frame}
      title="The preview"
      sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"
      referrerpolicy="no-referrer"
      src={`/dashboard/frame/canvas${remote ? "?remote=1" : ""}`}
    />
  );
}

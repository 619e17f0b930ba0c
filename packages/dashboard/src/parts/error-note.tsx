/** @jsxImportSource preact */
import type { RequestError } from "../api/request-error.ts";

interface Props {
  readonly title?: string;
  readonly text?: string;
  readonly error?: RequestError;
  readonly retry?: () => void;
}

/** Error with a hint and the request id to look up in the server's log. */
export function ErrorNote({ title, text, error, retry }: Props) {
  return (
    <div class="note bad" role="alert">
      <strong>{title ?? error?.message}</strong>
      {(text ?? (title !== undefined && error)) ? <p>{text ?? error?.message}</p> : null}
      {error?.details.map(({ path, message }) => (
        <p key={path}>
          {path === "" ? "" : <code>{path}</code>} {message}
        </p>
      ))}
      {error?.hint ? <p>{error.hint}</p> : null}
      {error?.requestId ? (
        <p class="soft">
          Request <code>{error.requestId}</code>
        </p>
      ) : null}
      {retry ? (
        <button type="button" onClick={retry}>
          Try again
        </button>
      ) : null}
    </div>
  );
}

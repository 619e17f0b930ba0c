/** @jsxImportSource preact */
import type { RequestError } from "../api/request-error.ts";

interface Props {
  readonly title?: string;
  readonly text?: string;
  readonly error?: RequestError;
  readonly retry?: () => void;
}

// The hint of a request whose fields are wrong speaks of its body.
const FOR_PROGRAMS = /listed in details/;

/** Error with a hint and the request id to look up in the server's log. */
export function ErrorNote({ title, text, error, retry }: Props) {
  const said = text ?? error?.message ?? "";
  const details = error?.details.filter(({ message }) => !said.includes(message));
  return (
    <div class="note bad" role="alert">
      <strong>{title ?? error?.message}</strong>
      {(text ?? (title !== undefined && error)) ? <p>{text ?? error?.message}</p> : null}
      {details?.map(({ path, message }) => (
        <p key={path}>
          {path === "" ? "" : <code>{path}</code>} {message}
        </p>
      ))}
      {error?.hint && !FOR_PROGRAMS.test(error.hint) ? <p>{error.hint}</p> : null}
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

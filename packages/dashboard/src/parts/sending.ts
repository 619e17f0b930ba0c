import { useState } from "preact/hooks";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { toast } from "./toast.tsx";

/** State of a form's or dialog's request. */
export interface Sending {
  /** True while it is under way. */
  readonly busy: boolean;
  /** Error of the last request; null when it succeeded. */
  readonly error: RequestError | null;
  /** Sends it; answers whether that succeeded. */
  readonly send: (act: () => Promise<void>) => Promise<boolean>;
  /** Forgets what went wrong, because the person has changed something. */
  readonly forget: () => void;
}

/** Sends something, and keeps what went wrong to be shown. */
export function useSending(): Sending {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<RequestError | null>(null);
  const send = async (act: () => Promise<void>): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      await act();
      return true;
    } catch (cause) {
      setError(asRequestError(cause));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, send, forget: () => setError(null) };
}

/** Acts at once. An error is shown for a few seconds. */
export function useActing(): { readonly busy: boolean; readonly act: (what: () => Promise<void>) => Promise<void> } {
  const [busy, setBusy] = useState(false);
  const act = async (what: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await what();
    } catch (cause) {
      const { message, hint } = asRequestError(cause);
      toast(hint === null ? message : `${message} ${hint}`, { bad: true });
    } finally {
      setBusy(false);
    }
  };
  return { busy, act };
}

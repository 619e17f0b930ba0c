/** The server cannot listen on the port or address. The message says what to do. */
export class ListenError extends Error {
  override name = "ListenError";
}

/** Turns an error of listen() into one whose message says what to do. */
export function toListenError({ code, message }: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): ListenError {
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is in use. Stop the other program, or choose another port; --port 0 takes any free one.`,
    EACCES: `This process may not listen on port ${port}. Choose a port above 1023.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine.`,
    ENOTFOUND: `${host} is not an address of this machine.`,
  };
  return new ListenError(messages[code ?? ""] ?? `Cannot listen on ${host}:${port}: ${code ?? message}.`);
}

/** True if a host is this machine: `localhost`, an IPv4 address of loopback, or `::1`, in URLs also in brackets. */
export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/** Where somebody signs in who wants to be on this page. */
export function signInPath(): string {
  return `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`
}

/** Tells the other tabs that a user signed in or out, but not which user. */
export const sessionChannel = new BroadcastChannel('session')

export function tellOtherTabs(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  sessionChannel.postMessage('changed')
}

import { sessionChannel } from './session-channel.js'

// A page that the browser restores from its cache may show a user who has signed out meanwhile.
window.addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload()
})
sessionChannel.addEventListener('message', () => location.reload())

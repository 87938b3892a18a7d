const CHOSEN = { SAMPLE_DATA: 'true', OWNER_BYPASS_ROLE: 'Admin', COOKIE_SECURE: 'false' }

/**
 * The environment with what `npm start` and the commands beside it choose for a first look. The user's own settings come
 * before these; a blank one counts as unset, as everywhere.
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function demoEnvironment() {
  const set = Object.entries(process.env).filter(([, value]) => value !== '')
  return { ...CHOSEN, ...Object.fromEntries(set) }
}

/**
 * The settings that `npm start` and the commands beside it choose for a first look; the user's own come before them.
 *
 * @returns {NodeJS.ProcessEnv}
 */
export function demoEnvironment() {
  return { SAMPLE_DATA: 'true', OWNER_BYPASS_ROLE: 'Admin', COOKIE_SECURE: 'false', ...process.env }
}

import { defaultTheme, type RaThemeOptions } from 'react-admin'

/**
 * The usual look of react-admin in the fonts of the system, so that nothing is loaded from elsewhere, and with a bar that is
 * dark enough for white text (WCAG 2.2, 1.4.3).
 */
export const theme: RaThemeOptions = {
  ...(defaultTheme as RaThemeOptions),
  palette: { ...defaultTheme.palette, secondary: { main: '#1565c0' } },
  typography: { fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif' }
}

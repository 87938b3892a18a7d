import { type ReactElement, type ReactNode, useState } from 'react'
import { createSvgIcon, MenuItem, Typography } from '@mui/material'
import {
  AppBar,
  defaultTheme,
  Layout,
  Logout,
  Menu,
  type RaThemeOptions,
  Title,
  TitlePortal,
  useGetIdentity,
  UserMenu,
  useUserMenu
} from 'react-admin'
import { PasswordDialog } from './password.js'

const Person = createSvgIcon(
  <path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm0 2c-2.7 0-8 1.3-8 4v2h16v-2c0-2.7-5.3-4-8-4z" />,
  'Person'
)

/** Whose password is changed, and the pages that are there for some callers. */
interface Frame {
  /** That of the API, without a slash at its end. */
  readonly baseUrl: string
  readonly hasOverview: () => boolean
  readonly hasAccounts: () => boolean
}

/** The frame of every page: menu, title and the way out. */
export function layoutWith({
  baseUrl,
  hasOverview,
  hasAccounts
}: Frame): (props: { readonly children?: ReactNode }) => ReactElement {
  const AdminMenu = (): ReactElement => (
    <Menu>
      {hasOverview() && <Menu.DashboardItem primaryText="Overview" />}
      <Menu.ResourceItems />
      {hasAccounts() && <Menu.Item to="/accounts" primaryText="Accounts" leftIcon={<Person />} />}
    </Menu>
  )
  const UserAccount = (): ReactElement => <Account baseUrl={baseUrl} />
  /** The title of a page is its heading of the first level, for those who go by headings. */
  const AdminBar = (): ReactElement => (
    <AppBar userMenu={<UserAccount />}>
      <TitlePortal component="h1" />
    </AppBar>
  )
  return ({ children }) => (
    <Layout appBar={AdminBar} menu={AdminMenu}>
      {children}
    </Layout>
  )
}

/** In the place of a page that is not there for the caller, who is not told whether it is there for others. */
export function NothingHere(): ReactElement {
  return (
    <>
      <Title title="Not found" />
      <Typography role="status" sx={{ padding: 2 }}>
        There is no such page, or you may not see it.
      </Typography>
    </>
  )
}

/** The button shows a name, with which what it is called has to begin. */
function Account({ baseUrl }: Pick<Frame, 'baseUrl'>): ReactElement {
  const { data } = useGetIdentity()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <UserMenu label={`${data?.fullName ?? ''}: account`}>
        <PasswordItem onOpen={() => setOpen(true)} />
        <Logout />
      </UserMenu>
      {isOpen && <PasswordDialog baseUrl={baseUrl} onClose={() => setOpen(false)} />}
    </>
  )
}

function PasswordItem({ onOpen }: { readonly onOpen: () => void }): ReactElement {
  const { onClose } = useUserMenu() ?? {}
  const open = (): void => {
    onClose?.()
    onOpen()
  }
  return <MenuItem onClick={open}>Change the password</MenuItem>
}

/** Dark enough under white text, and on white (WCAG 2.2, 1.4.3: a contrast of 4.5). */
const BLUE = '#1565c0'

/** The usual look of react-admin in the fonts of the system, so that nothing is loaded from elsewhere. */
export const theme: RaThemeOptions = {
  ...(defaultTheme as RaThemeOptions),
  palette: { ...defaultTheme.palette, primary: { main: BLUE }, secondary: { main: BLUE } },
  components: {
    ...(defaultTheme as RaThemeOptions).components,
    MuiCircularProgress: { defaultProps: { 'aria-label': 'Loading' } },
    // What stands in place of a reference until its name is there.
    MuiLinearProgress: { defaultProps: { 'aria-label': 'Loading' } }
  },
  typography: { fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif' }
}

import type { ReactElement, ReactNode } from 'react'
import { AppBar, Layout, Logout, TitlePortal, useGetIdentity, UserMenu } from 'react-admin'

/** The frame of every page: menu, title and the way out. */
export function AdminLayout({ children }: { readonly children?: ReactNode }): ReactElement {
  return <Layout appBar={AdminBar}>{children}</Layout>
}

/** The title of a page is its heading of the first level, for those who go by headings. */
function AdminBar(): ReactElement {
  return (
    <AppBar userMenu={<Account />}>
      <TitlePortal component="h1" />
    </AppBar>
  )
}

/** The button shows a name, with which what it is called has to begin. */
function Account(): ReactElement {
  const { data } = useGetIdentity()
  return (
    <UserMenu label={`${data?.fullName ?? ''}: account`}>
      <Logout />
    </UserMenu>
  )
}

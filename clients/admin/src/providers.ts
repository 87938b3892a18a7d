import type { AnyApplication, UniformRestDataProvider } from '@uniform-rest/react-admin'

/** The data provider of an application that is known from its catalogue alone. */
export type AdminDataProvider = UniformRestDataProvider<AnyApplication>

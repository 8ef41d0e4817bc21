/** A column as a migration creates it, with the type of its values for the queries. */
export interface Column<Value> {
  sql: string
  /** Never set: it only carries the type. */
  readonly value?: Value
}

/** A table's SQL: its columns by name, and a constraint over several of them. */
export interface Table<Columns extends Record<string, Column<unknown>>> {
  columns: Columns
  constraint?: string
}

/** The rows of tables, by name, as the queries see them. */
export type RowsOf<Tables> = {
  [Name in keyof Tables]: Tables[Name] extends Table<infer Columns>
    ? { [Key in keyof Columns]: Columns[Key] extends Column<infer Value> ? Value : never }
    : never
}

export const text: Column<string> = { sql: 'text not null' }
export const integer: Column<number> = { sql: 'integer not null' }
/** Milliseconds since the epoch and other numbers past 32 bits, which is what PostgreSQL's `integer` has. */
export const moment: Column<number> = { sql: 'moment not null' }
export const key: Column<string> = { sql: 'text not null primary key' }
export const unique: Column<string> = { sql: 'text not null unique' }

export function textOf<Value extends string>(): Column<Value> {
  return { sql: text.sql }
}

export function maybe<Value>({ sql }: Column<Value>): Column<Value | null> {
  return { sql: sql.replace(' not null', '') }
}

export function withRule<Value>({ sql }: Column<Value>, rule: string): Column<Value> {
  return { sql: `${sql} ${rule}` }
}

export function table<Columns extends Record<string, Column<unknown>>>(
  columns: Columns,
  constraint?: string,
): Table<Columns> {
  return { columns, ...(constraint !== undefined && { constraint }) }
}

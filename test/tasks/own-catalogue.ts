import { toTaskSellers } from '../../src/domain/plans/task-plan.ts'
import { toTask } from '../../src/domain/tasks/task.ts'
import { catalogue } from '../support/own-catalogue.ts'

/** The tasks and sellers of the content that is published. */
export const { listings, tables } = catalogue
export const TASKS = tables.tasks.flatMap((row) => toTask(row) ?? [])
export const SELLERS = listings.flatMap((listing) => toTaskSellers(listing, tables))

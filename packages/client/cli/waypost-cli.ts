#!/usr/bin/env node
import { runCommand } from './run-command.ts'
import { supplyGroupBy } from './verify.ts'

supplyGroupBy()
process.exitCode = await runCommand(process.argv.slice(2))

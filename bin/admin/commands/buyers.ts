import type { AddCommands } from '../command.ts';

export const addBuyerCommands: AddCommands = () => {};

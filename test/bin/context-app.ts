/** A CDK app that prints the context of bin/app.ts and has the two stacks of the stage, empty: it is synthesized in no time. */
import { App, Stack } from 'aws-cdk-lib';
import { apiStackName, dataStackName } from '#lib/outputs.ts';

const app = new App();
const [stage, direct] = ['stage', 'direct'].map((name) => app.node.tryGetContext(name));
console.error(`stage ${stage}, direct ${direct}`);
const data = new Stack(app, dataStackName(stage));
new Stack(app, apiStackName(stage)).addDependency(data);
app.synth();

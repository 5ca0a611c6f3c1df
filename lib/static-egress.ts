import { RemovalPolicy } from 'aws-cdk-lib';
import {
  CfnEIP,
  FlowLogDestination,
  FlowLogTrafficType,
  GatewayVpcEndpointAwsService,
  type ISecurityGroup,
  type IVpc,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/** A network whose outbound traffic has one fixed address, which providers can allow-list. */
export interface StaticEgress {
  readonly vpc: IVpc;
  readonly securityGroup: ISecurityGroup;
  readonly address: string;
  readonly natGatewayId: string;
}

/**
 * Adds a VPC for the functions that call providers: private subnets in two zones behind one NAT gateway with an Elastic IP. DynamoDB
 * has a gateway endpoint, which is free. Secrets Manager is called through the NAT gateway, a few times an hour.
 */
export const staticEgress = (parent: Construct, logs: LogGroupProps): StaticEgress => {
  const scope = new Construct(parent, 'Egress');
  const address = new CfnEIP(scope, 'Address', { domain: 'vpc' });
  // Providers allow this address, and AWS gives a released address to somebody else: it is kept as the logs are.
  address.applyRemovalPolicy(logs.removalPolicy);
  const gateways = NatProvider.gateway({ eipAllocationIds: [address.attrAllocationId] });
  const vpc = new Vpc(scope, 'Vpc', {
    maxAzs: 2,
    natGateways: 1,
    natGatewayProvider: gateways,
    subnetConfiguration: [
      { name: 'public', subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
      { name: 'functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 22 },
    ],
    gatewayEndpoints: { DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
    // Emptying the default security group takes a custom resource with its own function, and nothing of this stack is in that group.
    restrictDefaultSecurityGroup: false,
  });
  vpc.addFlowLog('Refused', {
    trafficType: FlowLogTrafficType.REJECT,
    destination: FlowLogDestination.toCloudWatchLogs(
      new LogGroup(scope, 'FlowLog', { ...logs, removalPolicy: RemovalPolicy.DESTROY }),
    ),
  });
  const securityGroup = new SecurityGroup(scope, 'Functions', {
    vpc,
    description: 'Functions that call providers: HTTPS out, nothing in',
    allowAllOutbound: false,
  });
  securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'Providers, and AWS services');
  const natGatewayId = gateways.configuredGateways[0]?.gatewayId ?? '';
  return { vpc, securityGroup, address: address.ref, natGatewayId };
};
